import type { Level } from 'pino';
import type { LostLines } from './linewriter.js';

export interface LogLine {
  number: number;
  level: Level;
  text: string;
}

export type LogRing = ReturnType<typeof createLogRing>;

const MAX_LINES = 2000;
const MAX_BYTES = 1024 ** 2;
const MAX_LENGTH = 16_384;
const LEVEL = /^\{"level":"(trace|debug|info|warn|error|fatal)"/;

/**
 * The newest log lines in memory. Numbers start at the time of the start in milliseconds, so that
 * they exceed those of earlier runs and readers notice the gap.
 */
export const createLogRing = (now: number) => {
  let lines: LogLine[] = [];
  let first = 0;
  let bytes = 0;
  let last = now;
  const listeners = new Set<() => void>();
  let lost = (): LostLines => ({ lostLines: 0, reason: '' });
  const drop = (): void => {
    bytes -= lines[first]?.text.length ?? 0;
    first++;
    if (first < MAX_LINES) return;
    lines = lines.slice(first);
    first = 0;
  };
  return {
    write: (line: string): void => {
      const text = line.trimEnd().slice(0, MAX_LENGTH);
      lines.push({ number: ++last, level: parseLogLevel(text), text });
      bytes += text.length;
      while (lines.length - first > MAX_LINES || bytes > MAX_BYTES) drop();
      for (const listener of listeners) listener();
    },
    after: (number: number | null): LogLine[] => {
      const oldest = lines[first]?.number ?? 0;
      const from = number === null ? 0 : Math.max(0, number + 1 - oldest);
      return lines.slice(first + from);
    },
    ends: () => {
      const oldest = lines[first]?.number;
      return oldest === undefined ? { oldest: 0, last: 0 } : { oldest, last };
    },
    listen: (listener: () => void) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    lost: () => lost(),
    watch: (from: () => LostLines): void => {
      lost = from;
    },
  };
};

const parseLogLevel = (text: string): Level => {
  const found = LEVEL.exec(text)?.[1];
  return isLevel(found) ? found : 'info';
};

const isLevel = (word: string | undefined): word is Level => word !== undefined;
