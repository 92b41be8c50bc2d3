import type { Readable } from 'node:stream';
import Boom from '@hapi/boom';

export interface FormDeadlines {
  periodMs: number;
  leastBytes: number;
  longestMs: number;
}

/** Minimum speed: bytes per period, in milliseconds. */
const PERIOD_MS = 15_000;
const MIN_BYTES = 16 * 1024 * (PERIOD_MS / 1000);
const MAX_MS = 15 * 60_000;

export const FORM_DEADLINES: FormDeadlines = {
  periodMs: PERIOD_MS,
  leastBytes: MIN_BYTES,
  longestMs: MAX_MS,
};

/** Rejects if the source is too slow. Time in which we paused it does not count. */
export const rejectWhenLate = (source: Readable, pace: FormDeadlines): Promise<never> => {
  let bytes = 0;
  source.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  const late = new Promise<never>((_resolve, reject) => {
    const judge = (): void => {
      if (bytes < pace.leastBytes && !source.isPaused()) reject(tooSlow());
      bytes = 0;
    };
    const slow = setInterval(judge, pace.periodMs);
    const long = setTimeout(() => reject(tooSlow()), pace.longestMs);
    void streamClosed(source).then(() => {
      clearInterval(slow);
      clearTimeout(long);
    });
  });
  late.catch(() => undefined);
  return late;
};

export const streamClosed = (source: Readable): Promise<void> =>
  new Promise((resolve) => {
    if (source.readableEnded || source.destroyed) resolve();
    for (const event of ['end', 'close', 'error']) source.once(event, () => resolve());
  });

const tooSlow = (): Boom.Boom => {
  const boom = Boom.clientTimeout(
    'The form was not received within the time limit. Send the form again',
  );
  boom.output.headers.connection = 'close';
  return boom;
};
