import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { DAEMON_ENV } from '../../cli/daemon/environment.js';
import { V8_OPTIONS } from '../../cli/daemon/start.js';

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Daemon {
  url: string;
  pid: number;
  /** Milliseconds from the process start to the line with its address. */
  readyMs: number;
  /** Output so far. */
  said: { stdout: string; stderr: string };
  /** Sends the signal and waits for the exit. */
  end(signal: NodeJS.Signals): Promise<Ended>;
  ended: Promise<Ended>;
}

export interface DaemonOptions {
  home: string;
  /** Settings such as `ADJUTANT_PORT`. The port defaults to any free one. */
  env?: Record<string, string>;
  /** Program that starts the daemon, with its arguments: `['strace', '-f']`. */
  under?: string[];
  /** Another program that prints its address, with its arguments. */
  entry?: string[];
}

const ENTRY = [...V8_OPTIONS, fileURLToPath(new URL('./serve.js', import.meta.url))];
const LISTENING = /^ {2}listening (\S+)/m;

/** The daemon as a process of its own. Throws with its output if it does not start. */
export const startDaemon = async (options: DaemonOptions): Promise<Daemon> => {
  const since = performance.now();
  const { child, said, ended, listening } = launch(options);
  const url = await Promise.race([listening, ended]);
  if (typeof url !== 'string') throw new Error(`The daemon did not start: ${url.stderr}`);
  const pid = options.under ? await childOf(child.pid ?? 0) : (child.pid ?? 0);
  return {
    url,
    pid,
    readyMs: performance.now() - since,
    said,
    ended,
    end: (signal) => {
      if (child.exitCode === null && child.signalCode === null) process.kill(pid, signal);
      return ended;
    },
  };
};

/** The only child of a process: signals are for the daemon, not its tracer. */
const childOf = async (pid: number): Promise<number> =>
  Number((await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ')[0]);

export const startRefused = async (options: DaemonOptions): Promise<Ended> => {
  const { child, ended, listening } = launch(options);
  const url = await Promise.race([listening, ended]);
  if (typeof url !== 'string') return url;
  child.kill('SIGKILL');
  throw new Error(`The daemon started on ${url}`);
};

/** Kills a starting daemon after that time. */
export const startKilled = async (options: DaemonOptions, afterMs: number): Promise<void> => {
  const { child, ended } = launch(options);
  const timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
  await ended;
  clearTimeout(timer);
};

const launch = ({ home, env = {}, under = [], entry = ENTRY }: DaemonOptions) => {
  const [program = process.execPath, ...args] = [...under, process.execPath, ...entry];
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH ?? '',
      TMPDIR: process.env.TMPDIR ?? '/tmp',
      ADJUTANT_HOME: home,
      ADJUTANT_PORT: '0',
      ADJUTANT_LOG_LEVEL: 'error',
      ADJUTANT_RATE_PER_USER: '0',
      ADJUTANT_RATE_PER_ADDRESS: '0',
      ADJUTANT_BUILTIN_EMBEDDER: 'false',
      ...DAEMON_ENV,
      ...env,
    },
  });
  const said = { stdout: '', stderr: '' };
  return { child, said, ended: endOf(child, said), listening: listeningOf(child, said) };
};

const endOf = (child: ChildProcess, said: { stdout: string; stderr: string }): Promise<Ended> => {
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said.stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, ...said }));
  });
};

const listeningOf = (child: ChildProcess, said: { stdout: string }): Promise<string> =>
  new Promise((resolve) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said.stdout += text;
      const url = LISTENING.exec(said.stdout)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
