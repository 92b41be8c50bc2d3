import type { Readable } from 'node:stream';
import Boom from '@hapi/boom';
import type { Clock } from './clock.js';

const PERIOD_MS = 15_000;
const MIN_KIB_PER_S = 16;
const MIN_BYTES = MIN_KIB_PER_S * 1024 * (PERIOD_MS / 1000);
const MAX_MS = 15 * 60_000;

/** Rejects if the source is too slow. Time in which we paused it does not count. */
export const rejectWhenLate = (source: Readable, clock: Clock): Promise<never> => {
  let bytes = 0;
  source.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  const late = new Promise<never>((_resolve, reject) => {
    const judge = (): void => {
      if (bytes < MIN_BYTES && !source.isPaused()) reject(tooSlow());
      bytes = 0;
    };
    const cancels = [clock.every(PERIOD_MS, judge), clock.after(MAX_MS, () => reject(tooSlow()))];
    void streamClosed(source).then(() => {
      for (const cancel of cancels) cancel();
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
    `The upload was slower than ${MIN_KIB_PER_S} KiB per second or took more than ${MAX_MS / 60_000} minutes. Send the form again`,
  );
  boom.output.headers.connection = 'close';
  return boom;
};
