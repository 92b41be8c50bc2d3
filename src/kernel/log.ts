import { type Logger, multistream, pino, stdSerializers } from 'pino';
import { type Clock, iso, systemClock } from './clock.js';
import { createLineWriter, type LineWriter, type LostLines } from './linewriter.js';
import type { LogRing } from './ring.js';

export type Log = Logger;

const SECRET_KEYS = [
  'authorization',
  'password',
  'token',
  'secret',
  'apiKey',
  'cookie',
  'value',
  'webhookSecret',
];

interface LogOptions {
  clock?: Clock;
  ring?: LogRing;
  to?: { write(line: string): void };
}

/** One JSON line per event. Lines contain IDs, but no contents and no secrets. */
export const createLog = (
  level: string,
  { clock = systemClock, ring, to }: LogOptions = {},
): Log => {
  const writer = stderr((lost) => log.error(lost, LOST));
  if (!to) ring?.watch(writer.lost);
  const out = to ?? writer;
  const log: Log = pino(
    {
      level,
      base: null,
      timestamp: () => `,"at":"${iso(clock.now())}"`,
      serializers: { err: shownError },
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: [...SECRET_KEYS, ...SECRET_KEYS.map((key) => `*.${key}`)],
        censor: '[secret]',
      },
    },
    ring ? multistream([out, ring].map((stream) => ({ level: 'trace', stream }))) : out,
  );
  return log;
};

const LOST = 'the log was not writable for some time; lines before this one are missing';

const stderr = (tell: (lost: LostLines) => void): LineWriter => {
  const writer = createLineWriter(2, { tell });
  let isUsed = false;
  return {
    ...writer,
    write: (line) => {
      if (!isUsed) process.once('exit', writer.flushSync);
      isUsed = true;
      writer.write(line);
    },
  };
};

/**
 * Libraries attach whole requests to errors, with bodies and headers, so only message, stack and
 * code are logged.
 */
const shownError = (error: unknown): object => {
  if (!(error instanceof Error)) return { type: typeof error };
  const { type, message, stack } = stdSerializers.err(error);
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return { type, message, stack, ...code };
};
