import type { Level } from 'pino';
import type { LostLines } from './linewriter.js';

/** A line that was written to the log: one JSON object, or the beginning of a long one. */
export interface LogLine {
  number: number;
  level: Level;
  text: string;
}

export type LogRing = ReturnType<typeof createLogRing>;

const MAX_LINES = 2000;
const MAX_BYTES = 1024 ** 2;
/** The most characters of one line. A stack trace is shorter. */
const LONGEST = 16_384;
const LEVEL = /^\{"level":"(trace|debug|info|warn|error|fatal)"/;

/**
 * Creates the ring of the newest lines of the log, in memory, for users who cannot read the file.
 * Ours: line numbers continue from the time of the start in milliseconds, so that
 * every number of an earlier run is lower than those of this one, and its reader is told of the
 * gap.
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
    /** Adds a line. pino writes to this method. */
    write: (line: string): void => {
      const text = line.trimEnd().slice(0, LONGEST);
      lines.push({ number: ++last, level: levelOf(text), text });
      bytes += text.length;
      while (lines.length - first > MAX_LINES || bytes > MAX_BYTES) drop();
      for (const hear of listeners) hear();
    },
    /**
     * Returns the lines after that number, oldest first. With null it returns all that are kept.
     */
    after: (number: number | null): LogLine[] => {
      const oldest = lines[first]?.number ?? 0;
      const from = number === null ? 0 : Math.max(0, number + 1 - oldest);
      return lines.slice(first + from);
    },
    /** Returns the numbers of the oldest and the last line, or 0 if nothing was written yet. */
    ends: () => {
      const oldest = lines[first]?.number;
      return oldest === undefined ? { oldest: 0, last: 0 } : { oldest, last };
    },
    /** Calls back for every line, until the returned function is called. */
    listen: (hear: () => void) => {
      listeners.add(hear);
      return () => {
        listeners.delete(hear);
      };
    },
    /**
     * Returns the lines that the file or the terminal has lost now, apart from those that wait for
     * it.
     */
    lost: () => lost(),
    /** Sets the source of `lost`. Before this call, `lost` reports no losses. */
    watch: (from: () => LostLines): void => {
      lost = from;
    },
  };
};

const levelOf = (text: string): Level => {
  const found = LEVEL.exec(text)?.[1];
  return isLevel(found) ? found : 'info';
};

const isLevel = (word: string | undefined): word is Level => word !== undefined;
