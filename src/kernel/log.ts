import { destination, type Logger, pino } from 'pino';
import { type Clock, iso, systemClock } from './clock.js';

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

/** One JSON line per event on stderr: ids yes, contents and secrets no. */
export const createLog = (level: string, clock: Clock = systemClock): Log =>
  pino(
    {
      level,
      base: null,
      timestamp: () => `,"at":"${iso(clock.now())}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: [...SECRET_KEYS, ...SECRET_KEYS.map((key) => `*.${key}`)],
        censor: '[secret]',
      },
    },
    destination({ fd: 2, sync: true }),
  );
