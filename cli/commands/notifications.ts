import { type Client, contracts, type Notification } from '../../src/client/index.js';
import type { Column } from '../columns.js';
import { command, type Group } from '../command.js';
import { listing } from '../listing.js';
import { idOf } from '../resolve.js';
import { age } from '../times.js';

const { list, read, 'read-all': readAll } = await contracts.notifications();

const columns: Column<Notification>[] = [
  { name: 'id', value: (one) => one.id, only: 'data' },
  {
    name: 'state',
    value: (one) => (one.readAt === null ? 'new' : 'read'),
    isState: true,
  },
  { name: 'title', value: (one) => one.title },
  { name: 'when', value: (one) => one.createdAt, show: (one) => age(one.createdAt) },
  { name: 'kind', value: (one) => one.kind },
  { name: 'short', value: (one) => one.id.slice(-6), only: 'table' },
  { name: 'body', value: (one) => one.body, only: 'data' },
  { name: 'link', value: (one) => one.link, only: 'data' },
];

const listNotifications = listing({
  name: 'list',
  args: '',
  summary: list.summary,
  examples: ['notifications list', 'notifications list --unread', 'notifications list --watch'],
  query: list.query,
  key: 'notifications',
  columns,
  open: async (context) => {
    const client = await context.client();
    return (query) => client.notifications.list({ query });
  },
  next: (rows) => {
    if (rows.length === 0) return 'Nothing to tell.';
    const isNew = rows.some(({ readAt }) => readAt === null);
    return isNew ? 'Seen them: adjutant notifications read-all' : undefined;
  },
});

const readOne = command({
  name: 'read',
  args: '<notification>',
  summary: read.summary,
  examples: ['notifications read 4ew6rt'],
  run: async (context, { args }) => {
    const client = await context.client();
    const id = await notificationId(client, args.notification);
    const reply = await client.notifications.read({ id });
    context.out.done(`Read: ${reply.title}`, reply, columns);
  },
});

const readEvery = command({
  name: 'read-all',
  summary: readAll.summary,
  examples: ['notifications read-all'],
  run: async (context) => {
    const reply = await (await context.client()).notifications['read-all']();
    context.out.done(`Marked ${reply.read} as read.`, reply, [
      { name: 'read', value: (row) => row.read },
    ]);
  },
});

const notificationId = (client: Client, typed: string): Promise<string> =>
  idOf(typed, {
    noun: 'notification',
    listed: 'notifications list',
    page: async (cursor) => {
      const page = await client.notifications.list({ query: { limit: 200, cursor } });
      const rows = page.notifications.map(({ id, title }) => ({ id, name: title }));
      return { rows, nextCursor: page.nextCursor };
    },
  });

export const notifications: Group = {
  name: 'notifications',
  summary: 'What Adjutant has told you',
  commands: [listNotifications, readOne, readEvery],
};
