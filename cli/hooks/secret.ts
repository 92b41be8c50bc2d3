import { randomBytes } from 'node:crypto';
import type { Context } from '../context.js';
import { usageFault } from '../exit.js';
import { secretFrom } from '../input.js';

const SECRET_BYTES = 32;

/** The secret of a new hook. */
export interface NewSecret {
  value: string;
  /** Made here: it must be shown, this once. */
  isMade: boolean;
}

/** From a file, or made. Usage: made, with an output that has no place for it. */
export const newHookSecret = async (
  context: Context,
  file: string | undefined,
): Promise<NewSecret> => {
  if (file === undefined) {
    const { out, flags } = context;
    if (out.format === 'id' || flags.fields !== undefined) {
      throw usageFault(
        'This output has no place for the new secret. Bring your own: --secret-file',
      );
    }
    return { value: randomBytes(SECRET_BYTES).toString('base64url'), isMade: true };
  }
  return { value: await givenSecret(context, file), isMade: false };
};

/** The secret that the sender has as well, from a file, stdin or a hidden answer. */
export const givenSecret = (context: Context, file: string | undefined): Promise<string> =>
  secretFrom(context, file, { ask: 'Secret of the hook', instead: '--secret-file' });
