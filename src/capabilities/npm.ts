import { spawn } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { networkSettings } from '../config.js';
import { systemClock } from '../kernel/clock.js';
import { NamedError } from '../kernel/failure.js';
import { findProgram, programEnv, signalGroup } from '../kernel/program.js';
import type { ProgressReporter } from './fetch.js';
import type { PackageSet } from './packages.js';

export class NpmFailed extends NamedError {}

const INSTALL_MS = 30 * 60_000;
const MAX_OUTPUT = 64 * 1024;
/** Package scripts never run, and only packages in the lock file are installed. */
const ARGUMENTS = [
  'ci',
  '--omit=optional',
  '--ignore-scripts',
  '--no-bin-links',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  // Logs each package and each failed attempt.
  '--loglevel=http',
];

export const findNpm = (folders: string[]): Promise<string | null> =>
  findProgram([dirname(process.execPath), ...folders], 'npm');

/**
 * npm cache inside the folder of the capability. Offline machines install from it; npm verifies the
 * checksums of the lock file.
 */
export const NPM_CACHE = '.npm-cache';

interface NpmOptions {
  folders: string[];
  /** True if all packages are already in the cache. */
  isOffline?: boolean;
  signal: AbortSignal;
  progress?: Pick<ProgressReporter, 'note' | 'onRetry'>;
}

/** The folder must be empty. Throws NpmFailed, or the reason of the signal. */
export const installPackages = async (
  folder: string,
  { dependencies, locked }: PackageSet,
  { folders, isOffline = false, signal, progress }: NpmOptions,
): Promise<void> => {
  const npm = await findNpm(folders);
  if (npm === null) throw new NpmFailed('npm is not installed. Install npm, then try again');
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
  const failure = await runWatchedProgram(npm, [...ARGUMENTS, ...from], {
    cwd: folder,
    env,
    signal,
    limitMs: INSTALL_MS,
    ...(progress && { onOutput: createNpmOutputReader(progress) }),
  });
  signal.throwIfAborted();
  if (failure !== null)
    throw new NpmFailed(unreachableMessage(failure) ?? uncachedMessage(failure) ?? failure);
  await rm(join(folder, NPM_CACHE, '_logs'), { recursive: true, force: true });
};

/** Defaults of npm: two retries, after 10 s and 60 s. */
const TRIES = 3;
const PAUSES_MS = [10_000, 60_000];

export const createNpmOutputReader = ({
  note,
  onRetry,
}: Pick<ProgressReporter, 'note' | 'onRetry'>) => {
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
        const reason = unreachableMessage(line) ?? `${hostIn(url)} failed with ${why.slice(0, 40)}`;
        onRetry({ attempt, of: TRIES, pauseMs: PAUSES_MS[attempt - 2] ?? 0, reason });
      }
      if (!/^npm http fetch GET 200 /.test(line)) continue;
      fetched += 1;
      note(`npm downloaded ${fetched} ${fetched === 1 ? 'file' : 'files'}`);
    }
  };
};

const MAX_LINE = 4000;

const hostIn = (url: string): string => (URL.canParse(url) ? new URL(url).host : REGISTRY);

const REGISTRY = 'The npm registry';

const UNREACHABLE_CODES =
  /\b(EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT)\b/;

export const unreachableMessage = (text: string): string | null => {
  const [, code] = UNREACHABLE_CODES.exec(text) ?? [];
  if (code === undefined) return null;
  const [url = ''] = /https?:\/\/[^\s/'"]+/.exec(text) ?? [];
  return `${hostIn(url)} cannot be reached (${code}). To install without a network, export the capability on another machine and set ADJUTANT_CAPABILITY_SOURCE to the folder`;
};

/** npm runs offline only with the cache of an export. */
export const uncachedMessage = (text: string): string | null =>
  /\bENOTCACHED\b/.test(text)
    ? 'The exported capability is incomplete: npm did not find a package in its cache. Export the capability again'
    : null;

interface ProgramRun {
  cwd: string;
  env: Record<string, string>;
  signal: AbortSignal;
  limitMs: number;
  onOutput?(piece: string): void;
}

const WATCH = fileURLToPath(new URL('./groupwatch.js', import.meta.url));

/** Also ends if this process is killed. */
const runWatchedProgram = (path: string, args: string[], run: ProgramRun): Promise<string | null> =>
  runProgramToEnd(process.execPath, [WATCH, String(process.pid), path, ...args], run);

/** Returns the last output on failure; null on success. */
export const runProgramToEnd = (
  path: string,
  args: string[],
  run: ProgramRun,
): Promise<string | null> =>
  new Promise((resolve) => {
    const { cwd, env, signal, limitMs, onOutput } = run;
    // Own process group, so that child processes end with it.
    const child = spawn(path, args, {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const take = (piece: Buffer): void => {
      output = `${output}${piece}`.slice(-MAX_OUTPUT);
      onOutput?.(piece.toString());
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    const kill = (): void => signalGroup(child.pid, 'SIGKILL');
    const cancel = systemClock.after(limitMs, kill);
    signal.addEventListener('abort', kill);
    if (signal.aborted) kill();
    const ended = (failure: string | null): void => {
      cancel();
      signal.removeEventListener('abort', kill);
      resolve(failure);
    };
    child.on('error', ({ message }) => ended(message));
    child.on('close', (code, by) => {
      if (code === 0) ended(null);
      else ended(getLastOutput(output) || `npm exited with ${by ?? code}`);
    });
  });

const getLastOutput = (output: string): string =>
  output
    .split('\n')
    .filter((line) => !line.startsWith('npm http '))
    .map((line) => line.replace(/^npm (error|ERR!)\s*/, '').trim())
    .filter((line) => line !== '' && !/complete log of this run/i.test(line))
    .slice(-6)
    .join('; ')
    .slice(-1500);
