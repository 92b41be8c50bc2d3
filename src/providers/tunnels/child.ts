import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { findProgram, outputOf, programEnv } from './program.js';

/** A program of a tunnel, as it is to be started. */
export interface TunnelLaunch {
  path: string;
  args: string[];
  env: Record<string, string>;
  /** Where further programs are looked for. */
  folders: string[];
}

/** It runs. */
export interface TunnelChild {
  pid: number;
  /** Why it is gone, in words, once it and all that it started are. */
  ended: Promise<string>;
  /** Asks it to end, and makes it after some seconds; resolves once it is gone. */
  stop(): Promise<void>;
}

/** What tells a process from a later one of the same number. */
export interface ProcessMark {
  pid: number;
  began: string;
}

/** The program cannot be started. */
export class NotStarted extends Error {
  override name = 'NotStarted';
}

const LAST_CHANCE_MS = 3_000;
const LONGEST_LINE = 500;

/**
 * Starts a program in a group of its own, with every line that it says handed to `hear`. Where the
 * system has it (setpriv of util-linux), the kernel kills it when this daemon dies, however that was.
 */
export const startTunnelChild = async (
  launch: TunnelLaunch,
  hear: (line: string) => void,
): Promise<TunnelChild> => {
  const { env } = launch;
  const [program = '', ...args] = [...(await leash(launch)), launch.path, ...launch.args];
  const child = spawn(program, args, {
    ...{ cwd: '/', env, detached: true },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = endOf(child);
  for (const stream of [child.stdout, child.stderr]) {
    const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
    lines.on('line', (line) => hear(line.slice(0, LONGEST_LINE)));
  }
  await once(child, 'spawn').catch((error: NodeJS.ErrnoException) => {
    throw new NotStarted(`${launch.path} cannot be started: ${error.code}`);
  });
  return { pid: child.pid ?? 0, ended, stop: () => stop(child, ended) };
};

/** null: there is no such process. */
export const markOf = async (pid: number): Promise<ProcessMark | null> => {
  const began = process.platform === 'linux' ? await sinceBoot(pid) : await startTime(pid);
  return began === null ? null : { pid, began };
};

/** Kills what an earlier daemon left behind, if it still runs; resolves to whether it did. */
export const killLeftover = async ({ pid, began }: ProcessMark): Promise<boolean> => {
  const mark = await markOf(pid);
  if (mark?.began !== began) return false;
  signal(pid, 'SIGKILL');
  return true;
};

/** What stands before the program so that it dies with us; nothing where the system cannot. */
const leash = async ({ folders }: TunnelLaunch): Promise<string[]> => {
  if (process.platform !== 'linux') return [];
  const setpriv = await findProgram([...folders, '/usr/bin', '/bin'], 'setpriv');
  if (setpriv === null) return [];
  const help = await outputOf(setpriv, ['--help'], programEnv(folders));
  return help?.includes('--pdeathsig') ? [setpriv, '--pdeathsig', 'KILL', '--'] : [];
};

const endOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', () => resolve('it cannot be started'));
    child.once('exit', (code, how) => {
      signal(child.pid, 'SIGKILL');
      resolve(how === null ? `it ended with code ${code}` : `it was ended by ${how}`);
    });
  });

const stop = async (child: ChildProcess, ended: Promise<string>): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  signal(child.pid, 'SIGTERM');
  const timer = setTimeout(() => signal(child.pid, 'SIGKILL'), LAST_CHANCE_MS);
  await ended;
  clearTimeout(timer);
};

/** To all of its group; that none is left, or only the dead, is as good. */
const signal = (pid: number | undefined, name: NodeJS.Signals): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code !== 'ESRCH' && error.code !== 'EPERM') throw error;
  }
};

/** The boot of the machine, and ticks since then (proc(5), field 22 of stat). */
const sinceBoot = async (pid: number): Promise<string | null> => {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name and may hold anything, parentheses too.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : `${boot.trim()} ${fields[19]}`;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
};

const startTime = (pid: number): Promise<string | null> =>
  new Promise((resolve) => {
    execFile('/bin/ps', ['-o', 'lstart=', '-p', String(pid)], (error, stdout) => {
      resolve(error || stdout.trim() === '' ? null : stdout.trim());
    });
  });
