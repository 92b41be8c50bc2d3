import { performance } from 'node:perf_hooks';
import type { FetchLike } from '../src/client/send.js';
import { usesScreenReader } from '../src/client/session.js';
import { systemClock } from '../src/kernel/clock.js';
import type { Streams } from './invocation.js';

const SILENT_MS = 400;
const BEAT_MS = 200;
const CLEAR_LINE = '\r\u001b[K';

/** Terminals with such a line. A nested one would overwrite it. */
const drawn = new WeakSet<object>();

/**
 * A line on a terminal with the elapsed time of a request, removed when it is done. With a screen
 * reader, it is printed once and stays. Nested calls print nothing.
 */
export const withProgress = async <T>(
  stderr: Streams['stderr'],
  work: () => Promise<T>,
  doing = 'Working…',
): Promise<T> => {
  if (!stderr.isTTY || drawn.has(stderr)) return work();
  drawn.add(stderr);
  try {
    return await (usesScreenReader() ? withNotice : withLine)(stderr, work, doing);
  } finally {
    drawn.delete(stderr);
  }
};

const withLine = async <T>(
  stderr: Streams['stderr'],
  work: () => Promise<T>,
  doing: string,
): Promise<T> => {
  const began = performance.now();
  let isShown = false;
  const show = () => {
    const ms = performance.now() - began;
    if (ms < SILENT_MS) return;
    stderr.write(`${CLEAR_LINE}${doing} ${(ms / 1000).toFixed(1)} s`);
    isShown = true;
  };
  const stop = systemClock.every(BEAT_MS, show);
  try {
    return await work();
  } finally {
    stop();
    if (isShown) stderr.write(CLEAR_LINE);
  }
};

const withNotice = async <T>(
  stderr: Streams['stderr'],
  work: () => Promise<T>,
  doing: string,
): Promise<T> => {
  const cancel = systemClock.after(SILENT_MS, () => void stderr.write(`${doing}\n`));
  try {
    return await work();
  } finally {
    cancel();
  }
};

/** Prints the status and duration of every request. */
export const traced =
  (fetch: FetchLike, say: (line: string) => void): FetchLike =>
  async (to, request) => {
    const began = performance.now();
    const response = await fetch(to, request);
    const ms = Math.round(performance.now() - began);
    const id = response.headers.get('x-request-id') ?? 'none';
    say(`-- ${request.method} ${to} ${response.status} in ${ms} ms, request ${id} --`);
    return response;
  };
