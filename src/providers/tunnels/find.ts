import { findProgram, outputOf, programEnv } from './program.js';
import { type ProgramName, programs } from './providers.js';

/** A program for a tunnel, with its path and version if it is installed. */
export interface FoundProgram {
  name: ProgramName | 'caddy' | 'nginx';
  path: string | null;
  version: string | null;
}

const NUMBER = /\d+\.\d+(?:[.\w-]*\w)?/;

/**
 * Returns the programs that can make a tunnel, and the proxies that can stand in front of the
 * daemon.
 */
export const findPrograms = (folders: string[]): Promise<FoundProgram[]> =>
  Promise.all(
    [
      ...Object.values(programs).map(({ program, version }) => ({ program, version })),
      { program: 'caddy', version: ['version'] },
      { program: 'nginx', version: ['-v'] },
    ].map(async ({ program, version }) => {
      const path = await findProgram(folders, program);
      const said = path === null ? null : await outputOf(path, version, programEnv(folders));
      return { name: nameOf(program), path, version: NUMBER.exec(said ?? '')?.[0] ?? null };
    }),
  );

const nameOf = (program: string): FoundProgram['name'] => {
  const names = ['cloudflared', 'ngrok', 'tailscale', 'ssh', 'caddy', 'nginx'] as const;
  const name = names.find((each) => each === program);
  if (!name) throw new Error(`${program} is no program of a tunnel`);
  return name;
};
