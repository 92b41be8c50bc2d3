import { buffer } from 'node:stream/consumers';
import { ApiError } from '../src/client/errors.js';
import type { CliQuestion } from './ask.js';
import { type Context, textFlag } from './command.js';
import { decodeUnicode } from './decode.js';
import { failed, usageFault } from './exit.js';
import { readLocalFile } from './localfile.js';

export const readFileOrStdin = async (context: Context, file: string): Promise<string> => {
  const text = decodeUnicode(await readInputBytes(context, file));
  if (text !== null) return text;
  throw noTextFault(file);
};

/** Returns the text of standard input. Throws if there is none. */
export const readPipedText = async (context: Context): Promise<string> => {
  const text = await readText(context, '-');
  if (text === null) throw noTextFault('-');
  if (text.trim() !== '') return text;
  throw usageFault('Standard input is empty. Pass the text as an argument or through a pipe.');
};

const noTextFault = (file: string): Error =>
  file === '-'
    ? usageFault(
        'Standard input is not text in UTF-8 or UTF-16. Convert it to UTF-8 first.',
        'From Windows-1252 or Latin-1: iconv -f WINDOWS-1252 -t UTF-8 <file> | adjutant …',
      )
    : usageFault(`${file} is not text in UTF-8 or UTF-16. Save the file as UTF-8.`);

/** Returns null for bytes that are not text. */
export const readText = async (context: Context, file: string): Promise<string | null> => {
  const text = decodeUnicode(await readInputBytes(context, file));
  return text?.includes('\0') ? null : text;
};

const readInputBytes = async ({ streams }: Context, file: string): Promise<Buffer> => {
  return file === '-' ? buffer(streams.stdin) : readLocalFile(file);
};

/** A secret from a file or stdin, without its last line feed, or else from hidden input. */
export const readSecretInput = async (
  context: Context,
  file: string | undefined,
  question: CliQuestion,
): Promise<string> => {
  if (file === undefined) return context.ask.hidden(question);
  const secret = decodeInputText(await readInputBytes(context, file), question, file).replace(
    /\r?\n$/,
    '',
  );
  const reason = secret === '' ? 'The value is empty.' : question.refuse?.(secret);
  if (reason !== undefined) throw usageFault(`${question.ask} from ${file}: ${reason}`);
  return secret;
};

/** Bytes that are not text would be changed when they are stored. */
const decodeInputText = (bytes: Buffer, { ask }: CliQuestion, file: string): string => {
  const text = decodeUnicode(bytes);
  if (text !== null) return text;
  throw usageFault(
    `${ask} from ${file}: The content is not UTF-8 text. Save text as UTF-8, or binary data as base64 text: base64 ${file} > <new file>`,
  );
};

const PASSWORD_FILE = '--password-file';

/** Flag for endpoints that ask for the password ten minutes after login. */
export const freshPasswordFile = textFlag(
  '<file|->',
  'File with your password. Required if you logged in more than ten minutes ago',
);

/** Reads a new password of at least 8 characters. A terminal asks for it twice. */
export const readNewPassword = (
  context: Context,
  ask: string,
  file: string | undefined,
): Promise<string> =>
  readNewSecret(
    context,
    { ask: `${ask} (at least 8 characters)`, instead: PASSWORD_FILE, called: 'passwords' },
    file,
  );

/** Like `readNewPassword`, for any secret. `called` is its plural. */
export const readNewSecret = async (
  context: Context,
  { ask, instead, called }: { ask: string; instead: string; called: string },
  file: string | undefined,
): Promise<string> => {
  const refuse = (input: string) => (input.length < 8 ? 'Enter at least 8 characters.' : undefined);
  const secret = await readSecretInput(context, file, { ask, instead, refuse });
  if (file !== undefined) return secret;
  const again = await context.ask.hidden({ ask: 'Repeat it', instead });
  if (again !== secret)
    throw failed(`The two ${called} differ. Nothing was changed. Run the command again.`);
  return secret;
};

interface MissingInput<B> {
  /** Error code of the daemon if it is required. */
  code: string;
  /** Whether it was passed on the command line, and is sent at once. */
  isGiven: boolean;
  ask(): Promise<B>;
}

/** Sends the request. If the daemon requires the password or code, asks for it and sends again. */
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

/** Sends a request, and asks for the password only if the daemon requires it. */
export const withPassword = <T>(
  context: Context,
  { passwordFile }: { passwordFile?: unknown },
  call: (body: { password?: string }) => Promise<T>,
): Promise<T> => {
  const file = typeof passwordFile === 'string' ? passwordFile : undefined;
  const ask = async () => ({
    password: await readSecretInput(context, file, {
      ask: 'Password of your Adjutant account',
      instead: PASSWORD_FILE,
    }),
  });
  return withInput({ code: 'password_required', isGiven: file !== undefined, ask }, call);
};
