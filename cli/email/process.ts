import { contracts } from '../../src/client/index.js';
import { command, textFlag } from '../command.js';
import { failed } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { noteOutcome, noWait, showStarted } from '../operations/follow.js';
import { ADD_ACCOUNT, mailAccountCrud, NO_ACCOUNT } from './accounts.js';

const endpoints = await contracts.mailprocessing();

export const processMail = command({
  name: 'process',
  calls: [endpoints.process, 'mailaccounts list'],
  examples: [
    '',
    '--account ada@example.org --folder INBOX',
    '--since 2026-01-31T09:00:00Z',
    '--no-wait --json',
  ],
  fields: () => requestFields(endpoints.process.body, ['accountId']),
  flags: {
    account: textFlag(
      '<account>',
      'Mail account whose new e-mails are classified and passed to hooks, by address or id. Defaults to all your mail accounts',
    ),
    noWait,
  },
  notes: [
    'New mail is sorted and fires the hooks with the trigger email, once per message.',
    'With --since, mail from before the account was added or watched also counts as new.',
  ],
  run: async (context, { fields, flags }) => {
    const { account } = flags;
    const more = account ? { accountId: (await mailAccountCrud.find(context, account)).id } : {};
    const body = await requestFrom(endpoints.process.body, { fields, more }, context.at);
    const client = await context.client();
    if (account === undefined) {
      const { accounts } = await client.mailaccounts.list({ query: { limit: 1 } });
      if (accounts.length === 0) throw failed(NO_ACCOUNT, ADD_ACCOUNT);
    }
    noteOutcome(
      context,
      await showStarted(context, await client.mailprocessing.process({ body }), flags),
    );
  },
});
