import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasEnded, runningDaemon } from '../../../cli/daemon/process.js';
import { ended } from '../../harness/clone.js';
import { projectRoot } from '../../harness/sources.js';

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A user on a machine where Adjutant was never used, and the built command line. */
export interface Machine {
  folder: string;
  /** Where the daemon keeps its things unless told otherwise. */
  home: string;
  /** The user's config folder of Adjutant. */
  config: string;
  /** `http://127.0.0.1:<port>` of a port that was free, which commands and daemon use. */
  url: string;
  /** `under`: a program that starts it, with its arguments. */
  start(words: string[], settings?: Record<string, string>, under?: string[]): ChildProcess;
  run(words: string[], settings?: Record<string, string>): Promise<Ended>;
  /** What is left in the folder for temporary files. */
  leftovers(): string[];
  /** Ends what was started and forgets the machine. */
  clear(): Promise<void>;
}

/** The built command line. */
export const ENTRY = join(projectRoot(), 'bin/adjutant.js');

export const newMachine = async (): Promise<Machine> => {
  const folder = mkdtempSync(join(tmpdir(), 'adjutant-cli-'));
  const [home, temporary] = [join(folder, '.adjutant'), join(folder, 'tmp')];
  mkdirSync(temporary);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = {
    PATH: process.env.PATH,
    NODE_V8_COVERAGE: process.env.NODE_V8_COVERAGE,
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, 'config'),
    TMPDIR: temporary,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    ADJUTANT_URL: url,
    ADJUTANT_PORT: String(port),
  };
  const children: ChildProcess[] = [];
  const start: Machine['start'] = (words, settings = {}, under = []) => {
    const [program = '', ...rest] = [...under, process.execPath, ENTRY, ...words];
    const child = spawn(program, rest, {
      cwd: folder,
      env: { ...env, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    return child;
  };
  return {
    folder,
    home,
    config: join(folder, 'config/adjutant'),
    url,
    start,
    run: async (words, settings) => ended(start(words, settings)),
    leftovers: () => readdirSync(temporary).filter((name) => name.startsWith('adjutant-')),
    clear: async () => {
      await endAll(children);
      await endRecorded(home);
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** A server that is no Adjutant. */
export const newStranger = async (port = 0): Promise<{ server: Server; port: number }> => {
  const server = createServer((_request, response) => response.end('hello')).listen(
    port,
    '127.0.0.1',
  );
  await once(server, 'listening');
  return { server, port: portOf(server) };
};

/** Waits until the child printed the word on stdout. */
export const printed = async ({ stdout }: ChildProcess, word: string): Promise<string> => {
  if (!stdout) throw new Error('The child has no pipe');
  let all = '';
  for await (const chunk of stdout.iterator({ destroyOnReturn: false })) {
    all += String(chunk);
    if (all.includes(word)) return all;
  }
  throw new Error(`It ended and printed only: ${all}`);
};

/** The pid in the home's daemon.json. */
export const recordedPid = (home: string): number =>
  JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')).pid;

export const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const freePort = async (): Promise<number> => {
  const { server, port } = await newStranger();
  await new Promise((resolve) => server.close(resolve));
  return port;
};

const portOf = (server: Server): number => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  return address.port;
};

const endAll = async (children: ChildProcess[]): Promise<void> => {
  for (const child of children.filter(
    ({ exitCode, signalCode }) => exitCode === null && !signalCode,
  )) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
};

/** Without the wait the daemon would still write while its home is removed. */
const endRecorded = async (home: string): Promise<void> => {
  const record = runningDaemon(home);
  if (record === null) return;
  process.kill(record.pid, 'SIGKILL');
  await hasEnded(record, { withinMs: Infinity });
};
