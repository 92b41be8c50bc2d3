import { ApiError } from '../../src/client/errors.js';
import { textFlag } from '../command.js';
import type { Context } from '../context.js';
import { failed } from '../exit.js';
import { secretFrom } from '../input.js';

const instead = '--password-file';

/** Flag of commands whose endpoint asks for the password later than ten minutes after login. */
export const freshPasswordFile = textFlag(
  '<file|->',
  'Where the password is, needed ten minutes after login',
);

/** A password that is to be set, of 8 characters or more; at a terminal it is asked for twice. */
export const readNewPassword = async (
  context: Context,
  { ask, file }: { ask: string; file: string | undefined },
): Promise<string> => {
  const refuse = (given: string) => (given.length < 8 ? '8 characters or more.' : undefined);
  const password = await secretFrom(context, file, { ask: `${ask} (8 or more)`, instead, refuse });
  if (file !== undefined) return password;
  const again = await context.ask.hidden({ ask: 'Again', instead });
  if (again !== password) throw failed('The two passwords differ. Nothing was done.');
  return password;
};

/** The password is asked for where the daemon says that it is needed, and not before. */
export const withPassword = async <T>(
  context: Context,
  file: string | undefined,
  call: (body: { password?: string }) => Promise<T>,
): Promise<T> => {
  const ask = () => secretFrom(context, file, { ask: 'Password', instead });
  if (file !== undefined) return call({ password: await ask() });
  try {
    return await call({});
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'password_required') throw error;
    return call({ password: await ask() });
  }
};
