import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { CliQuestion } from './ask.js';
import type { Context } from './context.js';
import { usageFault } from './exit.js';

/** Text of a file, or of stdin for `-`. Usage: it cannot be read. */
export const readFileOrStdin = async (context: Context, file: string): Promise<string> =>
  (await bytesOf(context, file)).toString('utf8');

const bytesOf = async ({ streams }: Context, file: string): Promise<Buffer> => {
  if (file === '-') return buffer(streams.stdin);
  try {
    return await readFile(file);
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw usageFault(`${file} cannot be read${why}.`);
  }
};

/** A secret from a file or stdin, where its last line feed is none of it, else a hidden answer. */
export const secretFrom = async (
  context: Context,
  file: string | undefined,
  question: CliQuestion,
): Promise<string> => {
  if (file === undefined) return context.ask.hidden(question);
  const secret = textOf(await bytesOf(context, file), question, file).replace(/\r?\n$/, '');
  const reason = secret === '' ? 'It is empty.' : question.refuse?.(secret);
  if (reason !== undefined) throw usageFault(`${question.ask} from ${file}: ${reason}`);
  return secret;
};

/** Usage: bytes that are no text would be stored as other ones. */
const textOf = (bytes: Buffer, { ask }: CliQuestion, file: string): string => {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw usageFault(`${ask} from ${file}: It is not UTF-8 text. Give it as text: base64 ${file}`);
};
