import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';

/** What was typed, and when it came, in milliseconds since 1970. */
export interface TypedLine {
  text: string;
  at: number;
}

/** What the person says, line by line. */
export interface LineReader {
  /** Null: there is no more. */
  next(): Promise<TypedLine | null>;
  /** The same, and a terminal does not show it. */
  hidden(): Promise<TypedLine | null>;
  /** Reads nothing while that runs: the terminal is somebody else's. */
  leave(act: () => Promise<void>): Promise<void>;
  close(): void;
}

/** Of a line: what is longer was not meant. */
const LONGEST = 20_000;

type In = NodeJS.ReadableStream & { isTTY?: boolean };

/** The terminal itself lets the line be edited, so that nothing has to be drawn. */
export const openLines = (input: In, now: () => number): LineReader => {
  const waiting: TypedLine[] = [];
  const askers: ((typed: TypedLine | null) => void)[] = [];
  let isEnded = false;
  let reader: Interface | null = null;

  const take = (text: string): void => {
    const typed = { text: text.slice(0, LONGEST), at: now() };
    const asker = askers.shift();
    if (asker) asker(typed);
    else waiting.push(typed);
  };
  const end = (): void => {
    isEnded = true;
    for (const tell of askers.splice(0)) tell(null);
  };
  const read = (isHidden: boolean): void => {
    const output = isHidden ? { output: silent(), terminal: true, historySize: 0 } : {};
    const opened = createInterface({ input, terminal: false, ...output });
    reader = opened;
    opened.on('line', take);
    opened.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    opened.on('close', () => {
      if (reader === opened) end();
    });
  };
  const stop = (): void => {
    const opened = reader;
    reader = null;
    opened?.close();
  };
  const next = (): Promise<TypedLine | null> => {
    const early = waiting.shift();
    if (early || isEnded) return Promise.resolve(early ?? null);
    return new Promise((resolve) => askers.push(resolve));
  };

  /** As another reader, or with none; what was typed ahead stays first in turn. */
  const meanwhile = async <T>(isHidden: boolean | null, act: () => Promise<T>): Promise<T> => {
    stop();
    if (isHidden !== null) read(isHidden);
    try {
      return await act();
    } finally {
      stop();
      if (!isEnded) read(false);
    }
  };

  read(false);
  return {
    next,
    hidden: () => (input.isTTY && !isEnded ? meanwhile(true, next) : next()),
    leave: (act) => meanwhile(null, act),
    close: () => {
      stop();
      end();
    },
  };
};

const silent = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });
