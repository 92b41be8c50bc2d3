import { contracts } from '../../src/client/index.js';
import { freshPasswordFile, withPassword } from '../auth/password.js';
import { type CommandGroup, command } from '../command.js';
import { requestFields, requestFrom } from '../fields.js';
import { askNeeded } from '../prompt.js';
import { safe } from '../text.js';
import { userCrud } from './columns.js';

const { 'totp-remove': remove } = await contracts.users();
const fields = () => requestFields(remove.body, ['password']);

const removeTotp = command({
  name: 'remove',
  args: '<user>',
  calls: [remove],
  examples: [
    'bob --reason "ticket 41: a lost phone"',
    'bob --reason "ticket 41" --yes',
    'bob --reason "ticket 41" --yes --password-file - < ./password',
  ],
  fields,
  flags: { passwordFile: freshPasswordFile },
  notes: ['All sessions of the user end, and the user is told on every channel, with the reason.'],
  seeAlso: 'adjutant recover, adjutant users invite',
  run: async (context, { args, flags, fields: given }) => {
    const { client, id } = await userCrud.find(context, args.user);
    const more = await askNeeded(context, fields(), { fields: given });
    const asked = await requestFrom(remove.body, { fields: given, more }, context.at);
    const name = safe(args.user);
    await context.ask.confirm(`Remove the authenticator app of ${name}? All their sessions end.`);
    await withPassword(context, flags.passwordFile, (password) =>
      client.users['totp-remove']({ id, body: { ...asked, ...password } }),
    );
    context.out.note(`Removed. ${name} logs in with the password alone.`);
  },
});

export const userTotp: CommandGroup = {
  summary: 'Authenticator apps of other users (admin)',
  commands: [removeTotp],
};
