import type { Context } from '../command.js';
import { oneLine } from '../text.js';

/** Asks for the mail account and the folder whose new e-mails fire a hook. The default is all. */
export const askMailTrigger = async (context: Context): Promise<Record<string, unknown>> => {
  const { ask } = context;
  const client = await context.client();
  const { accounts } = await client.mailaccounts.list({ query: { limit: 200 } });
  if (accounts.length === 0) ask.say('  No mail account yet. Add one: adjutant email setup');
  const choices = ['all accounts', ...accounts.map(({ address }) => oneLine(address))];
  const question = { ask: 'Mail account', choices, instead: '--account-id' };
  const account = accounts.length === 0 ? undefined : accounts[(await ask.choose(question)) - 1];
  const folder = await ask.text({ ask: 'Folder (empty: all)', instead: '--folder' });
  return {
    trigger: 'email',
    ...(account && { 'triggerConfig.accountId': account.id }),
    ...(folder !== '' && { 'triggerConfig.folder': folder }),
  };
};
