import { destination, type Logger, pino } from 'pino';

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
export const createLog = (level: string): Log =>
  pino(
    {
      level,
      base: null,
      timestamp: () => `,"at":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: [...SECRET_KEYS, ...SECRET_KEYS.map((key) => `*.${key}`)],
        censor: '[secret]',
      },
    },
    destination({ fd: 2, sync: true }),
  );
