import type { Client } from '../../src/client/index.js';
import { type Context, command } from '../command.js';
import { failed, interrupted } from '../exit.js';
import { localTime, safe } from '../text.js';
import { hookCrud } from './hook.js';

const POLL_MS = 1000;

/** Receives the token that a sender generates. The user confirms that the sender accepted it. */
export const awaitToken = command({
  name: 'await-token',
  args: '<hook>',
  calls: ['hooks await-token', 'hooks awaited-token', 'hooks confirm-token'],
  summary: "Receive a sender's verification token and use it as secret",
  examples: ['pages', 'pages --yes', 'pages > token.txt'],
  notes: [
    'The command waits until the sender posts a token to the hook, at most ten minutes.',
    'The token is printed to stdout. The token becomes the secret of the hook after you ' +
      'confirm.',
  ],
  seeAlso: 'adjutant hooks settings, adjutant help signatures',
  run: (context, { args }) => receiveToken(context, args.hook),
});

export const receiveToken = async (context: Context, name: string): Promise<void> => {
  const { out, ask } = context;
  const client = await context.client();
  const id = await hookCrud.id(client, name);
  const { until } = await client.hooks['await-token']({ id });
  out.note(
    `Waiting for a token until ${localTime(until ?? '')}. Trigger the verification at the sender.`,
  );
  const [token = '', ...earlier] = await waitForTokens(context, client, id);
  out.note('Token received. Enter it at the sender:');
  out.line(safe(token));
  for (const each of earlier) out.line(safe(each));
  if (earlier.length > 0) {
    const call = `adjutant api POST /api/hooks/${id}/confirm-token --data @token.json`;
    throw failed(
      'Several tokens arrived, newest first. Enter them at the sender one after the other.',
      `Then write {"token": "…"} with the accepted token to token.json and run: ${call}`,
    );
  }
  await ask.confirm(
    'Did the sender accept the token? The token then becomes the secret of the hook.',
  );
  const hook = await client.hooks['confirm-token']({ id, body: { token } });
  out.note(`The token is now the secret of ${safe(hook.name)}.`);
};

/** Polls until tokens arrive. Returns them newest first. Throws if none arrives in time. */
const waitForTokens = async (
  { signal, clock }: Context,
  client: Client,
  id: string,
): Promise<string[]> => {
  for (;;) {
    const { token, earlier, until } = await client.hooks['awaited-token']({ id });
    if (token !== null) return [token, ...earlier.map((each) => each.token)];
    if (until === null)
      throw failed(
        'No token arrived.',
        'Run the command again, then trigger the verification at the sender again.',
      );
    await clock.wait(POLL_MS, signal).catch(() => {
      throw interrupted('No token has arrived yet.');
    });
  }
};
