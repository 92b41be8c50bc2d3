import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NamedError } from '../kernel/failure.js';
import { findProgram, programEnv, signalGroup } from '../kernel/program.js';
import type { PackageSet } from './packages.js';

/** The error of npm; it says what npm said. */
export class NpmFailed extends NamedError {}

/** Ours: the longest time of an installation, and the most output that is kept. */
const INSTALL_MS = 30 * 60_000;
const MOST_OUTPUT = 4 * 1024 * 1024;
/** Scripts of packages never run, and nothing is installed that the lock file does not name. */
const ARGUMENTS = [
  'ci',
  '--omit=optional',
  '--ignore-scripts',
  '--no-bin-links',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  '--loglevel=error',
];

/** Returns the path of npm; null if it is not installed. */
export const findNpm = (folders: string[]): Promise<string | null> =>
  findProgram([dirname(process.execPath), ...folders], 'npm');

/**
 * The folder, within that of the capability, with the packages as they came. A machine without a
 * network installs from it, and npm compares each package with the checksum in our lock file.
 */
export const NPM_CACHE = '.npm-cache';

interface NpmOptions {
  /** The folders with npm. */
  folders: string[];
  /** True if all packages are in the cache already. */
  isOffline?: boolean;
  signal: AbortSignal;
}

/** Installs packages into a folder that is empty. Throws NpmFailed, or the reason of the signal. */
export const installPackages = async (
  folder: string,
  { dependencies, locked }: PackageSet,
  { folders, isOffline = false, signal }: NpmOptions,
): Promise<void> => {
  const npm = await findNpm(folders);
  if (npm === null) throw new NpmFailed('npm is not installed');
  const root = { name: 'capability', private: true, dependencies };
  const lock = { name: 'capability', lockfileVersion: 3, requires: true };
  const packages = { '': { name: 'capability', dependencies }, ...locked };
  await writeFile(join(folder, 'package.json'), JSON.stringify(root, null, 2));
  await writeFile(
    join(folder, 'package-lock.json'),
    JSON.stringify({ ...lock, packages }, null, 2),
  );
  await rm(join(folder, 'node_modules'), { recursive: true, force: true });
  const env = programEnv([dirname(process.execPath), ...folders]);
  const from = [`--cache=${join(folder, NPM_CACHE)}`, ...(isOffline ? ['--offline'] : [])];
  const failure = await ran(npm, [...ARGUMENTS, ...from], {
    cwd: folder,
    env,
    signal,
    limitMs: INSTALL_MS,
  });
  signal.throwIfAborted();
  if (failure !== null) throw new NpmFailed(failure);
  await rm(join(folder, NPM_CACHE, '_logs'), { recursive: true, force: true });
};

interface ProgramRun {
  cwd: string;
  env: Record<string, string>;
  signal: AbortSignal;
  limitMs: number;
}

/** Runs a program to its end. Returns the last of what it said if it failed; null otherwise. */
export const ran = (path: string, args: string[], run: ProgramRun): Promise<string | null> =>
  new Promise((resolve) => {
    const { cwd, env, signal, limitMs } = run;
    // In a group of its own, so that what it starts ends with it.
    const options = { cwd, env, maxBuffer: MOST_OUTPUT, detached: true };
    const child = execFile(path, args, options, (error, stdout, stderr) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', kill);
      resolve(error ? lastOf(`${stderr}\n${stdout}`) || error.message : null);
    });
    const kill = (): void => signalGroup(child.pid, 'SIGKILL');
    const timer = setTimeout(kill, limitMs);
    signal.addEventListener('abort', kill);
    if (signal.aborted) kill();
    child.stdin?.end();
  });

const lastOf = (output: string): string =>
  output
    .split('\n')
    .map((line) => line.replace(/^npm (error|ERR!)\s*/, '').trim())
    .filter((line) => line !== '' && !/complete log of this run/i.test(line))
    .slice(-6)
    .join('; ')
    .slice(-1500);
