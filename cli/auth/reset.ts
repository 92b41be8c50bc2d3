import { contracts } from '../../src/client/index.js';
import { command, textFlag } from '../command.js';
import { secretFrom } from '../input.js';
import { oneLine } from '../text.js';
import { readNewPassword } from './password.js';

const { reset } = await contracts.users();

export const passwordReset = command({
  name: 'reset',
  calls: [reset],
  examples: [
    '',
    '--link-file ./link --password-file ./new',
    '--link-file - --password-file ./new < ./link',
  ],
  flags: {
    linkFile: textFlag('<file|->', 'Where the link is, or its token'),
    passwordFile: textFlag('<file|->', 'Where the new password is'),
  },
  notes: ['An admin makes the link: adjutant users invite <user>'],
  seeAlso: 'adjutant recover, adjutant login',
  run: async (context, { flags }) => {
    const question = { ask: 'The link', instead: '--link-file' };
    const inviteToken = tokenOfLink(await secretFrom(context, flags.linkFile, question));
    const password = await readNewPassword(context, {
      ask: 'New password',
      file: flags.passwordFile,
    });
    const client = (await context.client()).with({ token: undefined });
    const reply = await client.users.reset({ body: { inviteToken, password } });
    context.out.done(`Set. Log in: adjutant login ${oneLine(reply.username)}`, reply, [
      { name: 'username', value: ({ username }) => username },
    ]);
  },
});

/** The token of a link that an admin gave, which stands behind its `#`; or the token itself. */
export const tokenOfLink = (given: string): string => given.trim().replace(/^.*#/, '');
