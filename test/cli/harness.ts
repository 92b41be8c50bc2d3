import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { run } from '../../cli/main.js';
import type { Clock } from '../../src/kernel/clock.js';

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

export interface Surroundings {
  /** Whether the streams are a terminal, and how wide it is. */
  terminal?: number;
  /** What stdin holds. */
  stdin?: string | Buffer;
  /** Answered to the questions on stderr, one after the other. */
  answers?: string[];
  /** ^C, once that was said on either stream. */
  until?: RegExp;
  /** Called once that was said on stderr. */
  at?: { text: RegExp; act(): void };
  clock?: Clock;
}

/** Progress, from one clearing of its line to the next: none of it stays on a terminal. */
const PROGRESS = /\r\u001b\[K[^\r\n]*(?=\r\u001b\[K)|\r\u001b\[K/g;

/**
 * One command line in this process, with streams of its own. Of a terminal: what stays there, since
 * it depends on the machine whether a command takes long enough to tell of its progress.
 */
export const adjutant = async (
  words: string[],
  { terminal, stdin, answers = [], until, at, clock }: Surroundings = {},
): Promise<Ended> => {
  const face = terminal === undefined ? {} : { isTTY: true, columns: terminal };
  const streams = {
    stdin: Object.assign(new PassThrough(), face),
    stdout: Object.assign(new PassThrough(), face),
    stderr: Object.assign(new PassThrough(), face),
    ...(clock && { clock }),
  };
  const stdout = collected(streams.stdout);
  const stderr = collected(streams.stderr);
  if (stdin !== undefined) streams.stdin.end(stdin);
  const left = [...answers];
  // A question ends with a colon or a choice, and waits on its line.
  streams.stderr.on('data', (piece: Buffer) => {
    if (!/(: |\] | {2})$/.test(piece.toString())) return;
    const answer = left.shift();
    if (answer !== undefined) setImmediate(() => streams.stdin.write(`${answer}\n`));
  });
  const interrupt = (piece: Buffer) => {
    if (until?.test(piece.toString())) process.emit('SIGINT');
  };
  for (const stream of [streams.stdout, streams.stderr]) stream.on('data', interrupt);
  streams.stderr.on('data', (piece: Buffer) => {
    if (at?.text.test(piece.toString())) at.act();
  });
  const code = await run(words, streams);
  streams.stdout.end();
  streams.stderr.end();
  const [out, said] = [await stdout, await stderr];
  if (terminal === undefined) return { code, stdout: out, stderr: said };
  return { code, stdout: staying(out), stderr: said.replace(PROGRESS, '') };
};

/** What stays on a terminal of lines that are drawn over. */
export const staying = (text: string): string => {
  const lines = [''];
  for (const piece of text.split(/(\n|\r(?:\u001b\[\d+A)?\u001b\[J)/)) {
    if (piece === '\n') lines.push('');
    else if (piece.startsWith('\r')) {
      const up = Number(/\d+(?=A)/.exec(piece)?.[0] ?? 0);
      lines.splice(lines.length - 1 - up, up + 1, '');
    } else lines.push(`${lines.pop()}${piece}`);
  }
  return lines.join('\n');
};

const collected = async (stream: PassThrough): Promise<string> => {
  const pieces: Buffer[] = [];
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  await once(stream, 'end');
  return Buffer.concat(pieces).toString();
};

/** The CLI as a process of its own, whose output is read line by line. */
export interface Started {
  /** The next line of stdout. */
  line(): Promise<string>;
  /** The next line of stderr. */
  note(): Promise<string>;
  /** ^C */
  interrupt(): void;
  /** Reads no more, as `head` does. */
  hangUp(): void;
  /** The exit code. */
  ended: Promise<number | null>;
}

const MAIN = new URL('../../cli/main.js', import.meta.url).href;
const SCRIPT = `import('${MAIN}').then(({ main }) => main(process.argv))`;

export const start = (words: string[]): Started => {
  const child = spawn(process.execPath, ['-e', SCRIPT, 'adjutant', ...words]);
  const stdout = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const stderr = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
  return {
    line: async () => String((await stdout.next()).value),
    note: async () => String((await stderr.next()).value),
    interrupt: () => void child.kill('SIGINT'),
    hangUp: () => void child.stdout.destroy(),
    ended: once(child, 'exit').then(([code]) => code),
  };
};
