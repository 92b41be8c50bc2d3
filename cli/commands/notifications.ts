import { contracts } from '../../src/client/index.js';
import { command, type Group } from '../command.js';
import { listing } from '../listing.js';
import { notificationColumns, notificationId } from '../notifications/columns.js';
import { notificationPreferences } from '../notifications/preferences.js';
import { listNoticeSendings } from '../notifications/sendings.js';
import { watchNotifications } from '../notifications/watch.js';

const { list, read, 'read-all': readAll } = await contracts.notifications();

const listNotifications = listing({
  name: 'list',
  args: '',
  summary: list.summary,
  examples: ['', '--unread', '--watch'],
  query: list.query,
  key: 'notifications',
  columns: notificationColumns,
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
  examples: [
    '4ew6rt',
    '4ew6rt --json',
    'notifications list --unread --output id | xargs -n1 adjutant notifications read',
  ],
  run: async (context, { args }) => {
    const client = await context.client();
    const id = await notificationId(client, args.notification);
    const reply = await client.notifications.read({ id });
    context.out.done(`Read: ${reply.title}`, reply, notificationColumns);
  },
});

const readEvery = command({
  name: 'read-all',
  summary: readAll.summary,
  examples: ['', '--json', '--quiet'],
  run: async (context) => {
    const reply = await (await context.client()).notifications['read-all']();
    context.out.done(`Marked ${reply.read} as read.`, reply, [
      { name: 'read', value: (row) => row.read },
    ]);
  },
});

export const notifications: Group = {
  name: 'notifications',
  summary: 'What Adjutant has told you',
  commands: [
    listNotifications,
    readOne,
    readEvery,
    watchNotifications,
    listNoticeSendings,
    notificationPreferences,
  ],
};
