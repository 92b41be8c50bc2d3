import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from './app.js';

/** The real program, controlled line by line through pipes. */
export interface Conversation {
  say(line: string): void;
  /** Output since the last line of input, once it contains the text. */
  hears(text: string): Promise<string>;
  /** Says a line. Resolves to the output since then, once it contains the text. */
  answers(line: string, text: string): Promise<string>;
  all(): string;
  hangUp(): void;
  signal(name: NodeJS.Signals): void;
  ended: Promise<number | null>;
}

export interface Program {
  words: string[];
  env: Record<string, string>;
}

const WAIT_MS = 20_000;

export const startConversation = ({ words, env }: Program): Conversation => {
  const child = spawn(process.execPath, words, { env: { PATH: process.env.PATH, ...env } });
  let all = '';
  let from = 0;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      all += piece;
    });
  }
  child.stdin.on('error', () => {});
  const say = (line: string): void => {
    from = all.length;
    child.stdin.write(`${line}\n`);
  };
  const hears = (text: string): Promise<string> =>
    until(
      async () => all.slice(from),
      (said) => said.includes(text),
      WAIT_MS,
    );
  return {
    say,
    hears,
    answers: (line, text) => {
      say(line);
      return hears(text);
    },
    all: () => all,
    hangUp: () => void child.stdin.end(),
    signal: (name) => void child.kill(name),
    ended: endOf(child),
  };
};

const endOf = async (child: ChildProcess): Promise<number | null> => {
  const [code] = await once(child, 'close');
  return code;
};
