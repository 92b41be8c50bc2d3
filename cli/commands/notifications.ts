import {
  type Client,
  contracts,
  formatNoticeHeadline,
  type Notification,
  type Reply,
} from '../../src/client/index.js';
import { buildColumns, formattedColumn } from '../columns.js';
import { type CommandGroup, type Context, command } from '../command.js';
import { crud } from '../crud.js';
import { interrupted } from '../exit.js';
import { connectionRemark, followRows } from '../live.js';
import { notificationPreferences } from '../notifications/preferences.js';
import { requestCommand } from '../request.js';
import { cutToWidth, localTime, oneLine, padded } from '../text.js';

const notificationColumns = buildColumns<Notification>(
  ['id:data'],
  { name: 'state', value: (one) => (one.readAt === null ? 'new' : 'read'), isState: true },
  { name: 'title', value: ({ title }) => title, show: formatNoticeHeadline },
  ['when=createdAt:ago', 'kind', 'short=id:tail', 'body:data', 'link:data'],
);

const notificationCrud = crud({
  noun: 'notification',
  rows: 'notifications',
  endpoints: { list: (await contracts.notifications()).list },
  columns: notificationColumns,
  named: (notice) => ({ id: notice.id, name: formatNoticeHeadline(notice) }),
});

/** Number of remembered ids, more than a page, so that none is printed twice. */
const KEPT = 5000;
const PAGE = 200;

/** Lists notifications back to the last one that was printed. Returns them oldest first. */
const missedBy = async (client: Client, known: Set<string>): Promise<Notification[]> => {
  const missed: Notification[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await client.notifications.list({ query: { limit: PAGE, cursor } });
    missed.push(...page.notifications);
    cursor = page.notifications.some(({ id }) => known.has(id)) ? null : page.nextCursor;
  }
  return missed.reverse();
};

const isNotice = (data: unknown): data is Notification =>
  typeof data === 'object' && data !== null && 'id' in data && 'title' in data;

const watchNotifications = command({
  name: 'watch',
  args: '',
  summary: 'Print notifications as they arrive',
  examples: ['', '--json | jq .title', '--output id'],
  notes: [
    'Runs until ^C, also across lost connections. Missed notifications are printed afterwards.',
    'In a pipe: one line per notification; notes go to stderr. With --json: one ' +
      'notification per line.',
  ],
  seeAlso: 'adjutant notifications list, adjutant approvals watch',
  run: async (context) => {
    const { out, signal } = context;
    const client = await context.listener();
    const known = new Set<string>();
    const isNew = ({ id }: Notification): boolean => {
      if (known.has(id)) return false;
      known.add(id);
      if (known.size > KEPT) known.delete(known.values().next().value ?? '');
      return true;
    };
    let before = 'nothing unread';
    const missed = async (isFirst: boolean): Promise<Notification[]> => {
      if (!isFirst) return missedBy(client, known);
      const page = await client.notifications.list({ query: { limit: PAGE } });
      for (const notice of page.notifications.reverse()) isNew(notice);
      if (page.unreadCount > 0) before = `${page.unreadCount} unread`;
      return [];
    };
    let printedCount = 0;
    try {
      const followed = { channel: 'notification', isRow: isNotice, isNew, missed };
      for await (const note of followRows(context, followed)) {
        if (note.type === 'listening') out.note(`Listening, ${before}. ^C exits.`);
        else if (note.type !== 'row') out.note(connectionRemark(note));
        else {
          printedCount++;
          printNotice(context, note.row);
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      throw interrupted(`${printedCount} printed. List them: adjutant notifications list --unread`);
    }
  },
});

const KIND_WIDTH = 18;

const printNotice = ({ out }: Context, notice: Notification): void => {
  if (out.format !== 'table') {
    out.item(notice, notificationColumns);
    return;
  }
  const head = [localTime(notice.createdAt), padded(oneLine(notice.kind), KIND_WIDTH)];
  out.line(cutToWidth([...head, oneLine(formatNoticeHeadline(notice))].join('  '), out.width));
};

const { notice } = await contracts.outbox();

const messageColumns = buildColumns<Reply<'outbox', 'notice'>['sendings'][number]>(
  ['id:data', 'at=createdAt:time', 'status:state', 'target', 'tries=attempts:number'],
  formattedColumn('error', ({ error }) => error, oneLine),
  ['receipt:data'],
);

const listNoticeMessages = notificationCrud.request({
  name: 'sendings',
  args: '<notification>',
  endpoint: notice,
  examples: ['4ew6rt', '4ew6rt --json', '4ew6rt --fields target,status,error'],
  notes: ['With --json: every attempt with the reply of the platform.'],
  seeAlso: 'adjutant channels list, adjutant notifications preferences',
  show: ({ out }, reply) => {
    out.page({ reply, rows: reply.sendings, columns: messageColumns });
    if (reply.sendings.length === 0) out.note('It was sent to no channel.');
  },
});

const { read, 'read-all': readAll } = await contracts.notifications();

const readEvery = requestCommand({
  name: 'read-all',
  endpoint: readAll,
  examples: ['', '--json', '--quiet'],
  show: ({ out }, reply) =>
    out.done(`Marked ${reply.read} as read.`, reply, buildColumns(['read'])),
});

export const notificationsGroup: CommandGroup = {
  commands: [
    notificationCrud.list({
      examples: ['', '--unread', '--watch'],
      next: (rows) => {
        if (rows.length === 0) return 'No notifications.';
        const isNew = rows.some(({ readAt }) => readAt === null);
        return isNew ? 'Mark them as read: adjutant notifications read-all' : undefined;
      },
    }),
    notificationCrud.act('read', read, {
      examples: [
        '4ew6rt',
        '4ew6rt --json',
        'notifications list --unread --output id | xargs -n1 adjutant notifications read',
      ],
      message: (notice) => `Marked as read: ${formatNoticeHeadline(notice)}`,
    }),
    readEvery,
    watchNotifications,
    listNoticeMessages,
    notificationPreferences,
  ],
};
