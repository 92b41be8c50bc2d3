import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { systemClock } from '../../kernel/clock.js';
import { errorCode, NamedError } from '../../kernel/failure.js';
import { findProgram, programEnv, readProgramOutput, signalGroup } from '../../kernel/program.js';

export interface TunnelLaunch {
  path: string;
  args: string[];
  env: Record<string, string>;
  folders: string[];
}

/** A process ID with its start time, which distinguishes it from a later process with the same ID. */
export interface ProcessMark {
  pid: number;
  began: string;
}

export class TunnelNotStarted extends NamedError {}

const LAST_CHANCE_MS = 3_000;
const MAX_LINE_LENGTH = 500;

/**
 * Starts a program in its own process group. If the system has setpriv (util-linux), the kernel kills
 * the program when this daemon dies for any reason.
 */
export const startTunnelChild = async (launch: TunnelLaunch, hear: (line: string) => void) => {
  const { env } = launch;
  const [program = '', ...args] = [...(await leash(launch)), launch.path, ...launch.args];
  const child = spawn(program, args, {
    cwd: '/',
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = waitForExit(child);
  for (const stream of [child.stdout, child.stderr]) {
    const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
    lines.on('line', (line) => hear(line.slice(0, MAX_LINE_LENGTH)));
  }
  await once(child, 'spawn').catch((error: NodeJS.ErrnoException) => {
    throw new TunnelNotStarted(
      `Cannot start the program ${launch.path}: ${error.code}. Check that the program is installed and executable`,
    );
  });
  return {
    pid: child.pid ?? 0,
    /** Resolves to the reason of the end, once the program and its child processes are dead. */
    ended,
    /** Sends SIGTERM, then SIGKILL after some seconds; resolves when the program has ended. */
    stop: () => stop(child, ended),
  };
};

/** Null if there is no such process. */
export const readProcessMark = async (pid: number): Promise<ProcessMark | null> => {
  const began = process.platform === 'linux' ? await sinceBoot(pid) : await startTime(pid);
  return began === null ? null : { pid, began };
};

/** Kills a process of an earlier daemon. Resolves to false if it no longer runs. */
export const killLeftover = async ({ pid, began }: ProcessMark): Promise<boolean> => {
  const mark = await readProcessMark(pid);
  if (mark?.began !== began) return false;
  signalGroup(pid, 'SIGKILL');
  return true;
};

/** The arguments in front of the program that make it die with the daemon; empty if unsupported. */
const leash = async ({ folders }: TunnelLaunch): Promise<string[]> => {
  if (process.platform !== 'linux') return [];
  const setpriv = await findProgram([...folders, '/usr/bin', '/bin'], 'setpriv');
  if (setpriv === null) return [];
  const help = await readProgramOutput(setpriv, ['--help'], programEnv(folders));
  return help?.includes('--pdeathsig') ? [setpriv, '--pdeathsig', 'KILL', '--'] : [];
};

const waitForExit = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', () => resolve('the program cannot be started'));
    child.once('exit', (code, how) => {
      signalGroup(child.pid, 'SIGKILL');
      resolve(
        how === null ? `the program ended with code ${code}` : `the program was ended by ${how}`,
      );
    });
  });

const stop = async (child: ChildProcess, ended: Promise<string>): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  signalGroup(child.pid, 'SIGTERM');
  const cancel = systemClock.after(LAST_CHANCE_MS, () => signalGroup(child.pid, 'SIGKILL'));
  await ended;
  cancel();
};

/**
 * The boot ID and the start in ticks since boot (proc(5), field 22 of stat); null if there is no such
 * process.
 */
const sinceBoot = async (pid: number): Promise<string | null> => {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name and may contain anything, even parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : `${boot.trim()} ${fields[19]}`;
  } catch (error) {
    if (errorCode(error) !== '') return null;
    throw error;
  }
};

const startTime = (pid: number): Promise<string | null> =>
  new Promise((resolve) => {
    execFile('/bin/ps', ['-o', 'lstart=', '-p', String(pid)], (error, stdout) => {
      resolve(error || stdout.trim() === '' ? null : stdout.trim());
    });
  });
