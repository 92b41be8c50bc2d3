import { newPassword } from '../auth/password.js';
import { command, text } from '../command.js';
import type { Context } from '../context.js';
import { homeOf } from '../daemon/environment.js';
import { failed } from '../exit.js';
import { safe } from '../text.js';

/** Who lost every way in, on the machine itself. `src/recover.ts` is loaded only here. */
export const recover = command({
  name: 'recover',
  args: '<user>',
  summary: 'Set a new password with the daemon stopped, when every way in is lost',
  examples: [
    'recover ada',
    'recover ada --password-file - < ./password',
    'recover ada --home /srv/adjutant',
  ],
  flags: { passwordFile: text('<file|->', 'Where the password is, instead of being asked for it') },
  notes: [
    'Ends all sessions and tokens of the user, and lets a disabled one in again.',
    'Second factors, passkeys, hooks and all else stay. It stands in the audit log.',
  ],
  seeAlso: 'adjutant down, adjutant users invite',
  run: async (context, { args, flags }) => {
    const recovery = await open(context);
    try {
      const account = await orFailed(context, recovery.find(args.user));
      const file = flags.passwordFile;
      const password = await newPassword(context, { ask: `New password of ${args.user}`, file });
      await recovery.recover(account, password);
      say(context, account);
    } finally {
      await recovery.close();
    }
  },
});

const open = async (context: Context) => {
  const { openRecovery } = await import('../../src/recover.js');
  return orFailed(context, openRecovery({ home: homeOf(context.flags.home) }));
};

/** What the daemon's side refuses is said in its own words, with what to do. */
const orFailed = async <T>({ flags }: Context, work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Error) || !/^(OpenRefused|BadSetting)$/.test(error.name)) throw error;
    const home = flags.home ? ` --home ${flags.home}` : '';
    const next = error.message.startsWith('Another Adjutant')
      ? [`Stop it first: adjutant down${home}`]
      : [];
    throw failed(`Not recovered: ${safe(error.message)}.`, ...next);
  }
};

interface Recovered {
  username: string;
  disabled_at: string | null;
  totp: number;
}

const say = ({ out }: Context, { username, disabled_at, totp }: Recovered): void => {
  out.note(`The password of ${username} is set; its sessions and tokens have ended.`);
  if (disabled_at !== null) out.note('The account was disabled, and is not any more.');
  if (totp === 1) out.note('Its logins need a code of the authenticator app, as before.');
  out.note('Next: adjutant up, adjutant login');
};
