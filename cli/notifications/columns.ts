import type { Client, Notification } from '../../src/client/index.js';
import type { Column } from '../columns.js';
import { idOf } from '../resolve.js';
import { age } from '../times.js';

export const notificationColumns: Column<Notification>[] = [
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

export const notificationId = (client: Client, typed: string): Promise<string> =>
  idOf(typed, {
    noun: 'notification',
    listed: 'notifications list',
    page: async (cursor) => {
      const page = await client.notifications.list({ query: { limit: 200, cursor } });
      const rows = page.notifications.map(({ id, title }) => ({ id, name: title }));
      return { rows, nextCursor: page.nextCursor };
    },
  });
