import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Question } from './ask.js';
import type { Context } from './context.js';
import { usage } from './exit.js';

/** What a file holds, or stdin for `-`. Usage: it cannot be read. */
export const readInput = async ({ streams }: Context, file: string): Promise<string> => {
  if (file === '-') return text(streams.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw usage(`${file} cannot be read${why}.`);
  }
};

/** A secret from a file or stdin, where its last line feed is none of it, else a hidden answer. */
export const secretFrom = async (
  context: Context,
  file: string | undefined,
  question: Question,
): Promise<string> => {
  if (file === undefined) return context.ask.hidden(question);
  const secret = (await readInput(context, file)).replace(/\r?\n$/, '');
  const reason = secret === '' ? 'It is empty.' : question.refuse?.(secret);
  if (reason !== undefined) throw usage(`${question.ask} from ${file}: ${reason}`);
  return secret;
};
