import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConfinedRun } from '../../../src/providers/confine/confinement.js';
import { until as untilRight } from '../../harness/app.js';

/** A data folder as the daemon's: an agent's folder in it, and beside that what must stay hidden. */
export interface Ground {
  folder: string;
  keyFile: string;
  run(argv: string[], more?: Partial<ConfinedRun>): ConfinedRun;
  clear(): Promise<void>;
}

export const ground = async (): Promise<Ground> => {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'adjutant-test-')));
  const folder = join(base, 'agents', 'agent_1');
  const keyFile = join(base, 'keys', 'master.key');
  await mkdir(folder, { recursive: true });
  await mkdir(join(base, 'keys'));
  await writeFile(keyFile, 'the master key');
  return {
    folder,
    keyFile,
    run: (argv, more) => ({
      argv,
      folder,
      timeoutMs: 10_000,
      maxOutputBytes: 65_536,
      network: false,
      signal: new AbortController().signal,
      ...more,
    }),
    clear: () => rm(base, { recursive: true }),
  };
};

/** The command lines on this machine that hold the mark. */
export const processesWith = async (mark: string): Promise<string[]> => {
  const pids = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => read(`/proc/${pid}/cmdline`)));
  return lines.filter((line) => line.includes(mark));
};

/** How many children of this process have ended and were never waited for. */
export const zombies = async (): Promise<number> => {
  const pids = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name));
  const stats = await Promise.all(pids.map((pid) => read(`/proc/${pid}/stat`)));
  const fields = stats.map((stat) => stat.slice(stat.lastIndexOf(')') + 2).split(' '));
  return fields.filter(([state, parent]) => state === 'Z' && parent === String(process.pid)).length;
};

/** Looks again until the condition holds. */
export const until = async (holds: () => Promise<boolean>): Promise<void> => {
  await untilRight(holds, (is) => is);
};

/** A process may be gone by the time it is read. */
const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
