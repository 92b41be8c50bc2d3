import { contracts } from '../../src/client/index.js';
import { type CommandGroup, command } from '../command.js';
import { notificationCrud } from '../notifications/columns.js';
import { notificationPreferences } from '../notifications/preferences.js';
import { listNoticeSendings } from '../notifications/sendings.js';
import { watchNotifications } from '../notifications/watch.js';

const { read, 'read-all': readAll } = await contracts.notifications();

const readEvery = command({
  name: 'read-all',
  calls: [readAll],
  examples: ['', '--json', '--quiet'],
  run: async (context) => {
    const reply = await (await context.client()).notifications['read-all']();
    context.out.done(`Marked ${reply.read} as read.`, reply, [
      { name: 'read', value: (row) => row.read },
    ]);
  },
});

export const notificationsGroup: CommandGroup = {
  commands: [
    notificationCrud.list({
      examples: ['', '--unread', '--watch'],
      next: (rows) => {
        if (rows.length === 0) return 'Nothing to tell.';
        const isNew = rows.some(({ readAt }) => readAt === null);
        return isNew ? 'Seen them: adjutant notifications read-all' : undefined;
      },
    }),
    notificationCrud.act('read', read, {
      examples: [
        '4ew6rt',
        '4ew6rt --json',
        'notifications list --unread --output id | xargs -n1 adjutant notifications read',
      ],
      said: ({ title }) => `Read: ${title}`,
    }),
    readEvery,
    watchNotifications,
    listNoticeSendings,
    notificationPreferences,
  ],
};
