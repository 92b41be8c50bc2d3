import { type Client, contracts, type SendingView } from '../../src/client/index.js';
import { fieldColumns, shownAs, type TableColumn } from '../columns.js';
import { type CommandGroup, command } from '../command.js';
import { listCommand } from '../list.js';
import { resolveId } from '../resolve.js';
import { oneLine } from '../text.js';
import { ago, localTime } from '../times.js';

const { list, resend } = await contracts.outbox();

const columns: TableColumn<SendingView>[] = [
  { name: 'id', value: ({ id }) => id, only: 'data' },
  shownAs('at', ({ createdAt }) => createdAt, localTime),
  { name: 'status', value: ({ status }) => status, isState: true },
  { name: 'user', value: ({ username }) => username },
  ...fieldColumns('target', 'kind'),
  { name: 'tries', value: ({ attempts }) => attempts },
  shownAs('next', ({ nextAttemptAt }) => nextAttemptAt, ago),
  shownAs('error', ({ error }) => error, oneLine),
  { name: 'channel', value: ({ channelId }) => channelId, only: 'data' },
  { name: 'webhook', value: ({ webhookId }) => webhookId, only: 'data' },
  { name: 'receipt', value: ({ receipt }) => receipt, only: 'data' },
  { name: 'short', value: ({ id }) => id.slice(-6), only: 'table' },
];

const listSendings = listCommand({
  endpoint: list,
  examples: ['--status failed', '--status unknown --all', '--json'],
  rows: 'sendings',
  columns,
  next: (rows) => {
    if (rows.length === 0) return 'Nothing like that was sent.';
    const dead = rows.find(({ status }) => status === 'failed' || status === 'unknown');
    return dead && `Send one again: adjutant outbox resend ${dead.id.slice(-6)}`;
  },
});

const resendSending = command({
  name: 'resend',
  args: '<sending>',
  calls: [resend],
  examples: [
    '4ew6rt',
    '4ew6rt --json',
    'outbox list --status failed --output id | xargs -n1 adjutant outbox resend',
  ],
  notes: ['For admins. What is unknown may have arrived: then it arrives twice.'],
  run: async (context, { args }) => {
    const client = await context.client();
    const id = await sendingId(client, args.sending);
    const sending = await client.outbox.resend({ id });
    context.out.done('Queued again. See how it ends: adjutant outbox list', sending, columns);
  },
});

const sendingId = (client: Client, typed: string): Promise<string> =>
  resolveId(typed, {
    noun: 'sending',
    listed: 'outbox list',
    page: (cursor) => deadPage(client, cursor),
  });

/** First what failed, then what is unknown: a cursor here is the status and the list's own. */
const deadPage = async (client: Client, cursor = 'failed') => {
  const [word, at] = cursor.split(' ');
  const status = word === 'failed' ? 'failed' : 'unknown';
  const page = await client.outbox.list({ query: { limit: 200, status, cursor: at } });
  const last = status === 'failed' ? 'unknown' : null;
  return {
    rows: page.sendings.map(({ id }) => ({ id, name: id })),
    nextCursor: page.nextCursor === null ? last : `${status} ${page.nextCursor}`,
  };
};

export const outboxGroup: CommandGroup = {
  summary: 'What is sent to channels and webhooks, and what could not be',
  commands: [listSendings, resendSending],
};
