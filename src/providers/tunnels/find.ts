import { findProgram, programEnv, readProgramOutput } from '../../kernel/program.js';
import { programs } from './providers.js';

const NUMBER = /\d+\.\d+(?:[.\w-]*\w)?/;
const PROXIES = [
  { program: 'caddy' as const, version: ['version'] },
  { program: 'nginx' as const, version: ['-v'] },
];

/** The programs for tunnels and reverse proxies, with path and version if they are installed. */
export const findPrograms = (folders: string[]) =>
  Promise.all(
    [...Object.values(programs), ...PROXIES].map(async ({ program: name, version }) => {
      const path = await findProgram(folders, name);
      const output =
        path === null ? null : await readProgramOutput(path, version, programEnv(folders));
      return { name, path, version: NUMBER.exec(output ?? '')?.[0] ?? null };
    }),
  );
