import { type Flag, textFlag } from '../command.js';
import type { Context } from '../context.js';
import { failed } from '../exit.js';
import { secretFrom } from '../input.js';

/** A passphrase is asked for, or comes from a file; never a flag's value, which ps would show. */
export const passphraseFile: Flag<string> = textFlag(
  '<file|->',
  'Where the passphrase is, instead of being asked for it',
);

const instead = '--passphrase-file';

/** The one that a backup was made with. */
export const passphraseOf = (context: Context, file: string | undefined): Promise<string> =>
  secretFrom(context, file, { ask: 'Passphrase', instead });

/** One for a new backup, of 8 characters or more; at a terminal it is asked for twice. */
export const newPassphrase = async (
  context: Context,
  file: string | undefined,
): Promise<string> => {
  const refuse = (given: string) => (given.length < 8 ? '8 characters or more.' : undefined);
  const ask = 'Passphrase for the keys (8 or more)';
  const passphrase = await secretFrom(context, file, { ask, instead, refuse });
  if (file !== undefined) return passphrase;
  if ((await context.ask.hidden({ ask: 'Again', instead })) !== passphrase) {
    throw failed('The two passphrases differ. Nothing was done.');
  }
  return passphrase;
};
