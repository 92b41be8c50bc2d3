import { spawn } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { networkSettings } from '../config.js';
import { NamedError } from '../kernel/failure.js';
import { findProgram, programEnv, signalGroup } from '../kernel/program.js';
import type { Telling } from './fetch.js';
import type { PackageSet } from './packages.js';

/** The error of npm; it says what npm said. */
export class NpmFailed extends NamedError {}

/** Ours: the longest time of an installation, and the most characters of output that are kept. */
const INSTALL_MS = 30 * 60_000;
const MAX_OUTPUT = 64 * 1024;
/** Scripts of packages never run, and nothing is installed that the lock file does not name. */
const ARGUMENTS = [
  'ci',
  '--omit=optional',
  '--ignore-scripts',
  '--no-bin-links',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  // It tells of each package, and of each try that failed.
  '--loglevel=http',
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
  /** Hears of the packages that were fetched, and of the next try. */
  told?: Pick<Telling, 'note' | 'waits'>;
}

/** Installs packages into a folder that is empty. Throws NpmFailed, or the reason of the signal. */
export const installPackages = async (
  folder: string,
  { dependencies, locked }: PackageSet,
  { folders, isOffline = false, signal, told }: NpmOptions,
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
  const env = { ...networkSettings(), ...programEnv([dirname(process.execPath), ...folders]) };
  const from = [`--cache=${join(folder, NPM_CACHE)}`, ...(isOffline ? ['--offline'] : [])];
  const failure = await ranWatched(npm, [...ARGUMENTS, ...from], {
    cwd: folder,
    env,
    signal,
    limitMs: INSTALL_MS,
    ...(told && { heard: hearNpm(told) }),
  });
  signal.throwIfAborted();
  if (failure !== null) throw new NpmFailed(unreachedIn(failure) ?? failure);
  await rm(join(folder, NPM_CACHE, '_logs'), { recursive: true, force: true });
};

/** Ours: npm's settings say so unless a person changed them: two more tries, after 10 s and 60 s. */
const TRIES = 3;
const PAUSES_MS = [10_000, 60_000];

/** Creates what hears the output of npm, and tells of it: how many packages came, and the next try. */
export const hearNpm = ({ note, waits }: Pick<Telling, 'note' | 'waits'>) => {
  let rest = '';
  let fetched = 0;
  return (piece: string): void => {
    const lines = `${rest}${piece}`.split('\n');
    rest = (lines.pop() ?? '').slice(-MAX_LINE);
    for (const line of lines) {
      const [, url = '', tries = '', why = ''] =
        /^npm http fetch GET (\S+) attempt (\d+) failed with (\S+)/.exec(line) ?? [];
      const attempt = Number(tries) + 1;
      if (tries !== '' && attempt <= TRIES) {
        const reason = unreachedIn(line) ?? `${hostIn(url)} failed with ${why.slice(0, 40)}`;
        waits({ attempt, of: TRIES, pauseMs: PAUSES_MS[attempt - 2] ?? 0, reason });
      }
      if (!/^npm http fetch GET 200 /.test(line)) continue;
      fetched += 1;
      note(`npm downloaded ${fetched} ${fetched === 1 ? 'file' : 'files'}`);
    }
  };
};

/** Ours: longer lines of npm are cut, in characters. */
const MAX_LINE = 4000;

const hostIn = (url: string): string => (URL.canParse(url) ? new URL(url).host : REGISTRY);

const REGISTRY = 'The npm registry';

/** The errors of a request that reached no server. */
const UNREACHED = /\b(EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT)\b/;

/** Returns the sentence for a registry that was not reached, from what npm said; null for others. */
export const unreachedIn = (said: string): string | null => {
  const [, code] = UNREACHED.exec(said) ?? [];
  if (code === undefined) return null;
  const [url = ''] = /https?:\/\/[^\s/'"]+/.exec(said) ?? [];
  return `${hostIn(url)} cannot be reached (${code}). To install without a network, export the capability on another machine and set ADJUTANT_CAPABILITY_SOURCE to the folder`;
};

interface ProgramRun {
  cwd: string;
  env: Record<string, string>;
  signal: AbortSignal;
  limitMs: number;
  /** Hears each piece of its output. */
  heard?(piece: string): void;
}

const WATCH = fileURLToPath(new URL('./groupwatch.js', import.meta.url));

/** Runs a program like `ran`, which ends also if this process is killed. */
const ranWatched = (path: string, args: string[], run: ProgramRun): Promise<string | null> =>
  ran(process.execPath, [WATCH, String(process.pid), path, ...args], run);

/** Runs a program to its end. Returns the last of what it said if it failed; null otherwise. */
export const ran = (path: string, args: string[], run: ProgramRun): Promise<string | null> =>
  new Promise((resolve) => {
    const { cwd, env, signal, limitMs, heard } = run;
    // In a group of its own, so that what it starts ends with it.
    const child = spawn(path, args, {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const take = (piece: Buffer): void => {
      output = `${output}${piece}`.slice(-MAX_OUTPUT);
      heard?.(piece.toString());
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    const kill = (): void => signalGroup(child.pid, 'SIGKILL');
    const timer = setTimeout(kill, limitMs);
    signal.addEventListener('abort', kill);
    if (signal.aborted) kill();
    const ended = (failure: string | null): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', kill);
      resolve(failure);
    };
    child.on('error', ({ message }) => ended(message));
    child.on('close', (code, by) => {
      if (code === 0) ended(null);
      else ended(lastOf(output) || `npm exited with ${by ?? code}`);
    });
  });

const lastOf = (output: string): string =>
  output
    .split('\n')
    .filter((line) => !line.startsWith('npm http '))
    .map((line) => line.replace(/^npm (error|ERR!)\s*/, '').trim())
    .filter((line) => line !== '' && !/complete log of this run/i.test(line))
    .slice(-6)
    .join('; ')
    .slice(-1500);
