import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ApiError } from '../../src/client/errors.js';
import type { Context } from '../context.js';
import { homeOf } from '../daemon/environment.js';
import { runningDaemon } from '../daemon/record.js';
import { secretFrom } from '../input.js';

const QUESTION = {
  ask: 'Setup code (shown at the start of the daemon, and in setup-code in its home)',
  instead: '--setup-code-file <home>/setup-code',
};

/** The setup code is looked for, or asked for, where the daemon says that it is needed. */
export const withSetupCode = async <T>(
  context: Context,
  file: string | undefined,
  call: (body: { setupCode?: string }) => Promise<T>,
): Promise<T> => {
  const code = async (from: string | undefined) => ({
    setupCode: (await secretFrom(context, from, QUESTION)).trim(),
  });
  if (file !== undefined) return call(await code(file));
  try {
    return await call({});
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'setup_code_required') throw error;
    return call(await code(ownFile(context)));
  }
};

/** The setup code of the daemon in the background here; it is sent to no other address unasked. */
const ownFile = ({ url, flags }: Context): string | undefined => {
  const home = homeOf(flags.home);
  const file = join(home, 'setup-code');
  return runningDaemon(home)?.url === url && existsSync(file) ? file : undefined;
};
