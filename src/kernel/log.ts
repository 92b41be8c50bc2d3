import { type Logger, multistream, pino, stdSerializers } from 'pino';
import { type Clock, iso, systemClock } from './clock.js';
import { createLineWriter, type LineWriter } from './linewriter.js';
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

/** Where the lines go. */
interface LogOptions {
  clock?: Clock;
  /** Gets every line as stderr does, after the secrets were taken out. */
  ring?: LogRing;
  /** Instead of stderr. */
  to?: { write(line: string): void };
}

/** One JSON line per event on stderr: ids yes, contents and secrets no. */
export const createLog = (
  level: string,
  { clock = systemClock, ring, to }: LogOptions = {},
): Log => {
  const out =
    to ??
    watched(
      ring,
      stderr((lost) => log.error(lost, LOST)),
    );
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
    // What the log's own level lets through goes to both.
    ring ? multistream([out, ring].map((stream) => ({ level: 'trace', stream }))) : out,
  );
  return log;
};

const watched = (ring: LogRing | undefined, writer: LineWriter): LineWriter => {
  ring?.watch(writer.lost);
  return writer;
};

const LOST = 'the log could not be written for a while: lines are missing before this one';

/** What a process that ends has still to say is written then. */
const stderr = (tell: Parameters<typeof createLineWriter>[1]['tell']): LineWriter => {
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
 * What an error says, and where it came from. Its other properties stay out: libraries hang whole
 * requests on theirs, with bodies and headers.
 */
const shownError = (error: unknown): object => {
  if (!(error instanceof Error)) return { type: typeof error };
  const { type, message, stack } = stdSerializers.err(error);
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return { type, message, stack, ...code };
};
