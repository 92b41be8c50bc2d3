import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import { keepRawMode } from '../../cli/foreground.js';

/** A typed line and its arrival time, in milliseconds since 1970. */
export interface TypedLine {
  text: string;
  at: number;
}

/** Maximum length of a line, in UTF-16 units. The rest is cut. */
const MAX_LINE_LENGTH = 20_000;

type In = NodeJS.ReadableStream & { isTTY?: boolean };

export type LineReader = ReturnType<typeof openLines>;

/** The terminal itself edits the line, so the desk draws nothing. */
export const openLines = (input: In, now: () => number) => {
  const waiting: TypedLine[] = [];
  const askers: ((typed: TypedLine | null) => void)[] = [];
  let isEnded = false;
  let reader: Interface | null = null;

  const take = (text: string): void => {
    const typed = { text: text.slice(0, MAX_LINE_LENGTH), at: now() };
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
    opened.once('close', keepRawMode(input));
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

  /** Runs `act` with another reader or none. Lines typed ahead keep their order. */
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
    /** Reads a line that the terminal does not show. */
    hidden: (): Promise<TypedLine | null> =>
      input.isTTY && !isEnded ? meanwhile(true, next) : next(),
    /** Reads nothing while `act` runs, because another program uses the terminal. */
    leave: (act: () => Promise<void>): Promise<void> => meanwhile(null, act),
    close: (): void => {
      stop();
      end();
    },
  };
};

const silent = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });
