import { contracts } from '../../src/client/index.js';
import { command, text } from '../command.js';
import { secretFrom } from '../input.js';
import { oneLine } from '../text.js';
import { tokenOfLink } from './link.js';
import { newPassword } from './password.js';

const { reset } = await contracts.users();

export const resetPassword = command({
  name: 'reset',
  calls: [reset],
  examples: [
    '',
    '--link-file ./link --password-file ./new',
    '--link-file - --password-file ./new < ./link',
  ],
  flags: {
    linkFile: text('<file|->', 'Where the link is, or its token'),
    passwordFile: text('<file|->', 'Where the new password is'),
  },
  notes: ['An admin makes the link: adjutant users invite <user>'],
  seeAlso: 'adjutant recover, adjutant login',
  run: async (context, { flags }) => {
    const question = { ask: 'The link', instead: '--link-file' };
    const inviteToken = tokenOfLink(await secretFrom(context, flags.linkFile, question));
    const password = await newPassword(context, { ask: 'New password', file: flags.passwordFile });
    const client = (await context.client()).with({ token: undefined });
    const reply = await client.users.reset({ body: { inviteToken, password } });
    context.out.done(`Set. Log in: adjutant login ${oneLine(reply.username)}`, reply, [
      { name: 'username', value: ({ username }) => username },
    ]);
  },
});
