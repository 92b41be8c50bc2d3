import type { RefusedDelivery } from '../../src/client/index.js';
import { columnsOf } from '../columns.js';
import { command } from '../command.js';
import { ago, localTime, safe } from '../text.js';
import { hookCrud } from './hook.js';
import { addressRemedy, secretRemedy, wordOf } from './senders/form.js';

const columns = columnsOf<RefusedDelivery>(
  ['at:time', 'reason'],
  { name: 'headers', value: ({ headers }) => headers.join(', ') },
  ['message', 'type=contentType:data'],
);

/** Lists the deliveries of which nothing was kept, with what to do about the newest. */
export const refusedDeliveries = command({
  name: 'refused',
  args: '<hook>',
  calls: ['hooks refused'],
  summary: 'Deliveries of which nothing was kept, and why',
  examples: ['github-issues', 'github-issues --json', 'github-issues --fields at,reason'],
  notes: ['The newest 20 since the daemon started. Of their headers, only names are kept.'],
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
      // Anybody may send a request: one alone is no reason to change a secret.
      mismatch: ['If it came from your sender:', ...addressRemedy(hook), ...secretRemedy(hook)],
      address: [`The address to enter at the sender: adjutant hooks settings ${wordOf(hook)}`],
      unsigned: [`What to enter at the sender: adjutant hooks settings ${wordOf(hook)}`],
      disabled: [`Let it fire: adjutant hooks enable ${wordOf(hook)}`],
      not_now: ['Compare the clocks: adjutant doctor'],
    };
    for (const line of remedies[newest.reason] ?? []) out.note(safe(line));
  },
});
