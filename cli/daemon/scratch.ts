import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { failed } from '../exit.js';
import { environmentWith } from './environment.js';
import { complaints } from './line.js';
import { logLines } from './log.js';
import { listeningIn } from './readiness.js';
import { EXECUTABLE } from './start.js';

const ENDED_WITHIN_MS = 10_000;
const KEPT_CHARACTERS = 16_384;
const SHOWN_LINES = 10;
/** Little is said, and nothing is waited for at the end: all of it is thrown away. */
const SETTINGS = { ADJUTANT_LOG_LEVEL: 'warn', ADJUTANT_DRAIN_SECONDS: '1' };

/** A daemon on a home of its own, which exists while the work goes on and not after it. */
export const withScratchDaemon = async <T>(
  signal: AbortSignal,
  work: (url: string) => Promise<T>,
): Promise<T> => {
  const home = mkdtempSync(join(tmpdir(), 'adjutant-demo-'));
  const words = [EXECUTABLE, 'serve', '--home', home, '--host', '127.0.0.1', '--port', '0'];
  const env = environmentWith(SETTINGS);
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exit = once(child, 'exit');
  try {
    return await work(await addressOf(child, signal));
  } finally {
    await end(child, exit);
    rmSync(home, { recursive: true, force: true });
  }
};

/** The daemon's address, as it says itself. Failed: it ended instead, with what it said last. */
const addressOf = async (child: ChildProcess, signal: AbortSignal): Promise<string> => {
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error('The daemon has no pipes');
  let complaint = '';
  stderr.setEncoding('utf8').on('data', (chunk: string) => {
    complaint = (complaint + chunk).slice(-KEPT_CHARACTERS);
  });
  const lines = createInterface({ input: stdout, signal });
  for await (const line of lines) {
    const url = listeningIn(line);
    if (url !== null) {
      stdout.resume();
      return url;
    }
  }
  signal.throwIfAborted();
  const said = complaints(logLines(complaint)).slice(-SHOWN_LINES);
  throw failed('The daemon did not start.', ...said);
};

const end = async (child: ChildProcess, exit: Promise<unknown>): Promise<void> => {
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), ENDED_WITHIN_MS);
  await exit;
  clearTimeout(late);
};
