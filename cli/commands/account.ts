import { contracts } from '../../src/client/index.js';
import { readSession, saveSession } from '../../src/client/session.js';
import { readNewPassword } from '../auth/password.js';
import { passwordReset } from '../auth/reset.js';
import { linkChannel } from '../channels/link.js';
import { type CommandGroup, command, textFlag } from '../command.js';
import { secretFrom } from '../input.js';
import { localTime } from '../times.js';

const { password: change } = await contracts.auth();
const { refresh } = await contracts.logins();

const changePassword = command({
  name: 'password',
  calls: [change],
  examples: [
    '',
    '--current-file ./old --password-file ./new',
    '--current-file ./old --password-file - < ./new',
  ],
  flags: {
    currentFile: textFlag('<file|->', 'Where the password is that you have'),
    passwordFile: textFlag('<file|->', 'Where the new one is'),
  },
  notes: ['A password is never a flag: other users of this machine would see it.'],
  seeAlso: 'adjutant auth sessions, adjutant auth tokens',
  run: async (context, { flags }) => {
    const question = { ask: 'The password that you have', instead: '--current-file' };
    const current = await secretFrom(context, flags.currentFile, question);
    const next = await readNewPassword(context, { ask: 'The new one', file: flags.passwordFile });
    const reply = await (await context.client()).auth.password({ body: { current, next } });
    if (context.out.format === 'json') return context.out.json(reply);
    const { sessionsEnded, tokensLeft } = reply;
    context.out.note(`Changed. Other logins that ended: ${sessionsEnded}.`);
    if (tokensLeft === 0) return;
    context.out.note(`Tokens that still work: ${tokensLeft}. See them: adjutant auth tokens list`);
  },
});

const refreshToken = command({
  name: 'refresh',
  calls: [refresh],
  examples: ['', '--server-token-file ./token > fresh-token', '--json'],
  notes: ['A kept login is kept on; the fresh token of any other goes to stdout.'],
  seeAlso: 'adjutant login',
  run: async (context) => {
    const { url, token, out } = context;
    const kept = readSession(url);
    const fresh = await (await context.client()).logins.refresh();
    const isKept = kept !== null && kept.token === token;
    if (isKept) saveSession(url, { ...kept, ...fresh });
    if (out.format === 'json') out.json(fresh);
    else if (!isKept) out.line(fresh.token);
    out.note(`Good until ${localTime(fresh.expiresAt)}.`);
  },
});

export const account: CommandGroup = {
  commands: [
    changePassword,
    passwordReset,
    refreshToken,
    { ...linkChannel, examples: ['K7MPXA', '', 'K7MPXA --yes'] },
  ],
  notes: ['More: adjutant auth sessions, auth tokens, auth totp, auth passkeys'],
};
