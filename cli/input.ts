import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { ApiError } from '../src/client/errors.js';
import { withoutMark } from '../src/client/index.js';
import type { CliQuestion } from './ask.js';
import { type Context, textFlag } from './command.js';
import { failed, usageFault } from './exit.js';

/** Text of a file, or of stdin for `-`. Usage: it cannot be read. */
export const readFileOrStdin = async (context: Context, file: string): Promise<string> =>
  withoutMark((await bytesOf(context, file)).toString('utf8'));

/** The same; null for bytes that are no text. */
export const readText = async (context: Context, file: string): Promise<string | null> => {
  const bytes = await bytesOf(context, file);
  return isUtf8(bytes) && !bytes.includes(0) ? withoutMark(bytes.toString('utf8')) : null;
};

const bytesOf = async ({ streams }: Context, file: string): Promise<Buffer> => {
  if (file === '-') return buffer(streams.stdin);
  try {
    return await readFile(file);
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw usageFault(`${file} cannot be read${why}.`);
  }
};

/** A secret from a file or stdin, where its last line feed is none of it, else hidden input. */
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
  if (isUtf8(bytes)) return withoutMark(bytes.toString('utf8'));
  throw usageFault(`${ask} from ${file}: It is not UTF-8 text. Give it as text: base64 ${file}`);
};

const PASSWORD_FILE = '--password-file';

/** Flag of commands whose endpoint asks for the password later than ten minutes after login. */
export const freshPasswordFile = textFlag(
  '<file|->',
  'Where the password is, needed ten minutes after login',
);

/** A password that is to be set, of 8 characters or more; at a terminal it is asked for twice. */
export const readNewPassword = (
  context: Context,
  ask: string,
  file: string | undefined,
): Promise<string> =>
  readNewSecret(
    context,
    { ask: `${ask} (8 or more)`, instead: PASSWORD_FILE, called: 'passwords' },
    file,
  );

/** The same for any secret of a person's choice; `called` names two of them. */
export const readNewSecret = async (
  context: Context,
  { ask, instead, called }: { ask: string; instead: string; called: string },
  file: string | undefined,
): Promise<string> => {
  const refuse = (given: string) => (given.length < 8 ? '8 characters or more.' : undefined);
  const secret = await secretFrom(context, file, { ask, instead, refuse });
  if (file !== undefined) return secret;
  const again = await context.ask.hidden({ ask: 'Again', instead });
  if (again !== secret) throw failed(`The two ${called} differ. Nothing was done.`);
  return secret;
};

interface MissingInput<B> {
  /** The code with which the daemon says that it is needed. */
  code: string;
  /** Given on the command line: it is sent at once. */
  isGiven: boolean;
  ask(): Promise<B>;
}

/**
 * Sends the request; if the daemon replies that it needs the password or code, asks for it and
 * sends it again.
 */
export const withInput = async <B extends object, T>(
  { code, isGiven, ask }: MissingInput<B>,
  call: (body: B | Record<string, never>) => Promise<T>,
): Promise<T> => {
  if (isGiven) return call(await ask());
  try {
    return await call({});
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== code) throw error;
    return call(await ask());
  }
};

/** Sends a request, and asks for the password only if the daemon replies that it needs it. */
export const withPassword = <T>(
  context: Context,
  { passwordFile }: { passwordFile?: unknown },
  call: (body: { password?: string }) => Promise<T>,
): Promise<T> => {
  const file = typeof passwordFile === 'string' ? passwordFile : undefined;
  const ask = async () => ({
    password: await secretFrom(context, file, { ask: 'Password', instead: PASSWORD_FILE }),
  });
  return withInput({ code: 'password_required', isGiven: file !== undefined, ask }, call);
};
