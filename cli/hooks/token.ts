import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../src/client/index.js';
import { type Context, command } from '../command.js';
import { failed, interrupted } from '../exit.js';
import { localTime, safe } from '../text.js';
import { hookCrud } from './hook.js';

const POLL_MS = 1000;

/** Takes the token that a sender makes: it shows it, and its owner says that the sender took it. */
export const awaitToken = command({
  name: 'await-token',
  args: '<hook>',
  calls: ['hooks await-token', 'hooks awaited-token', 'hooks confirm-token'],
  summary: 'Take the token that the sender makes and sends to the hook, as Notion does',
  examples: ['pages', 'pages --yes', 'pages > token.txt'],
  notes: ['The token goes to stdout. It becomes the secret of the hook once you say yes.'],
  seeAlso: 'adjutant hooks settings, adjutant help signatures',
  run: (context, { args }) => takeToken(context, args.hook),
});

/** Waits for a token, shows it, and makes it the secret of the hook once that is confirmed. */
export const takeToken = async (context: Context, name: string): Promise<void> => {
  const { out, ask } = context;
  const client = await context.client();
  const id = await hookCrud.id(client, name);
  const { until } = await client.hooks['await-token']({ id });
  out.note(`Awaiting a token until ${localTime(until ?? '')}. Have the sender send it.`);
  const [token = '', ...earlier] = await tokensOf(context, client, id);
  out.note('It came. Enter it at the sender:');
  out.line(safe(token));
  for (const each of earlier) out.line(safe(each));
  if (earlier.length > 0) {
    const call = `adjutant api POST /api/hooks/${id}/confirm-token`;
    throw failed('More than one token came, newest first.', `Confirm the one it accepts: ${call}`);
  }
  await ask.confirm('The sender accepted it, so make it the secret of the hook?');
  const hook = await client.hooks['confirm-token']({ id, body: { token } });
  out.note(`It is the secret of ${safe(hook.name)}.`);
};

/** Polls until tokens came, and returns the newest first. Failed: none came in time. */
const tokensOf = async ({ signal }: Context, client: Client, id: string): Promise<string[]> => {
  for (;;) {
    const { token, earlier, until } = await client.hooks['awaited-token']({ id });
    if (token !== null) return [token, ...earlier.map((each) => each.token)];
    if (until === null) throw failed('No token came.', 'Have the sender send it again.');
    await pause(POLL_MS, undefined, { signal }).catch(() => {
      throw interrupted('No token came yet.');
    });
  }
};
