import { contracts, type Reply } from '../../src/client/index.js';
import { shownAs, type TableColumn } from '../columns.js';
import { command } from '../command.js';
import { oneLine } from '../text.js';
import { localTime } from '../times.js';
import { notificationCrud } from './columns.js';

const { notice } = await contracts.outbox();

const columns: TableColumn<Reply<'outbox', 'notice'>['sendings'][number]>[] = [
  { name: 'id', value: ({ id }) => id, only: 'data' },
  shownAs('at', ({ createdAt }) => createdAt, localTime),
  { name: 'status', value: ({ status }) => status, isState: true },
  { name: 'target', value: ({ target }) => target },
  { name: 'tries', value: ({ attempts }) => attempts, isNumber: true },
  shownAs('error', ({ error }) => error, oneLine),
  { name: 'receipt', value: ({ receipt }) => receipt, only: 'data' },
];

export const listNoticeSendings = command({
  name: 'sendings',
  args: '<notification>',
  calls: [notice],
  examples: ['4ew6rt', '4ew6rt --json', '4ew6rt --fields target,status,error'],
  notes: ['With --json every attempt, and what it was answered.'],
  seeAlso: 'adjutant channels list, adjutant notifications preferences',
  run: async (context, { args }) => {
    const { client, id } = await notificationCrud.find(context, args.notification);
    const reply = await client.outbox.notice({ id });
    context.out.page({ reply, rows: reply.sendings, columns });
    if (reply.sendings.length === 0) context.out.note('It went nowhere but here.');
  },
});
