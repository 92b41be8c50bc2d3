import type { RefusedDelivery } from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import { command } from '../command.js';
import { ago, localTime, safe } from '../text.js';
import { hookCrud } from './hook.js';
import { addressRemedy, hookArgument, secretRemedy } from './senders/form.js';

const columns = buildColumns<RefusedDelivery>(
  ['at:time', 'reason'],
  { name: 'headers', value: ({ headers }) => headers.join(', ') },
  ['message', 'type=contentType:data'],
);

/** Lists rejected deliveries, with a remedy for the newest. */
export const refusedDeliveries = command({
  name: 'refused',
  args: '<hook>',
  calls: ['hooks refused'],
  summary: 'List rejected deliveries',
  examples: ['github-issues', 'github-issues --json', 'github-issues --fields at,reason'],
  notes: ['The newest 20 since the daemon started. Only the names of their headers are kept.'],
  seeAlso: 'adjutant hooks settings, adjutant hooks executions',
  run: async (context, { args }) => {
    const { out } = context;
    const client = await context.client();
    const hook = await client.hooks.get({ id: await hookCrud.id(client, args.hook) });
    const reply = await client.hooks.refused({ id: hook.id });
    out.page({ reply, rows: reply.refused, columns });
    const [newest] = reply.refused;
    if (!newest) {
      return out.note(`None since ${localTime(reply.since)}, when the daemon started.`);
    }
    const since = localTime(reply.since);
    out.note(`Refused since ${since}: ${reply.count}, the newest ${ago(newest.at)}.`);
    const remedies: Partial<Record<RefusedDelivery['reason'], string[]>> = {
      no_secret: secretRemedy(hook),
      // Anybody can send a request, so one alone is no reason to change a secret.
      mismatch: ['If your sender sent it:', ...addressRemedy(hook), ...secretRemedy(hook)],
      address: [`Address to enter at the sender: adjutant hooks settings ${hookArgument(hook)}`],
      unsigned: [`Values to enter at the sender: adjutant hooks settings ${hookArgument(hook)}`],
      disabled: [`Enable it: adjutant hooks enable ${hookArgument(hook)}`],
      not_now: ['Compare the clocks: adjutant doctor'],
    };
    for (const line of remedies[newest.reason] ?? []) out.note(safe(line));
  },
});
