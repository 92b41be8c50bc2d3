import { contracts, type Notification } from '../../src/client/index.js';
import { shownAs, type TableColumn } from '../columns.js';
import { crud } from '../crud.js';
import { ago } from '../times.js';

export const notificationColumns: TableColumn<Notification>[] = [
  { name: 'id', value: (one) => one.id, only: 'data' },
  {
    name: 'state',
    value: (one) => (one.readAt === null ? 'new' : 'read'),
    isState: true,
  },
  { name: 'title', value: (one) => one.title },
  shownAs('when', (one) => one.createdAt, ago, 'never'),
  { name: 'kind', value: (one) => one.kind },
  { name: 'short', value: (one) => one.id.slice(-6), only: 'table' },
  { name: 'body', value: (one) => one.body, only: 'data' },
  { name: 'link', value: (one) => one.link, only: 'data' },
];

/** A notification is known by its id, the end of that, or its title. */
export const notificationCrud = crud({
  noun: 'notification',
  rows: 'notifications',
  endpoints: { list: (await contracts.notifications()).list },
  columns: notificationColumns,
  named: ({ id, title }) => ({ id, name: title }),
});
