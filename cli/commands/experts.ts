import { contracts, type ExpertReply } from '../../src/client/index.js';
import { fieldColumns, shownAs, type TableColumn } from '../columns.js';
import { type CommandGroup, command } from '../command.js';
import { crud } from '../crud.js';
import { requestFields, requestFrom } from '../fields.js';
import { askNeeded } from '../prompt.js';
import { safe } from '../text.js';
import { ago } from '../times.js';

const endpoints = await contracts.experts();

const columns: TableColumn<ExpertReply>[] = [
  { name: 'id', value: (expert) => expert.id, only: 'data' },
  ...fieldColumns('name', 'source', 'description', 'topic', 'model'),
  shownAs('updated', (expert) => expert.updatedAt, ago),
];

const expertCrud = crud({
  noun: 'expert',
  rows: 'experts',
  endpoints,
  columns,
  named: (expert) => expert,
});

const create = command({
  name: 'create',
  args: '[name]',
  calls: [endpoints.create],
  examples: [
    'bookkeeper --description "Books invoices" --instructions "Check the sum twice"',
    'bookkeeper --data @bookkeeper.json',
    'bookkeeper --data @bookkeeper.json --topic money',
  ],
  fields: () => requestFields(endpoints.create.body, ['name']),
  takesData: true,
  run: async (context, { args, fields, data }) => {
    const given = { ...fields, ...(args.name !== undefined && { name: args.name }) };
    const needed = requestFields(endpoints.create.body);
    const asked = await askNeeded(context, needed, { fields: given, data });
    const filled = { fields: { ...given, ...asked }, data };
    const body = await requestFrom(endpoints.create.body, filled, context.at);
    const expert = await (await context.client()).experts.create({ body });
    context.out.done(`Created ${safe(expert.name)}.`, expert, columns);
  },
});

export const expertsGroup: CommandGroup = {
  commands: [
    expertCrud.list({
      examples: ['', '--source custom', '--json'],
      next: (rows) =>
        rows.some(({ source }) => source === 'custom')
          ? undefined
          : 'Make one of your own: adjutant experts create',
      seeAlso: 'adjutant agents spawn --orchestrated, or --expert-id',
    }),
    expertCrud.get({
      examples: ['engineer', 'bookkeeper --json', 'engineer --fields description,tools'],
    }),
    create,
    expertCrud.update({
      examples: [
        'bookkeeper --keywords invoice,receipt',
        'bookkeeper --data @bookkeeper.json',
        'bookkeeper --edit',
      ],
    }),
    expertCrud.delete({
      examples: ['bookkeeper', 'bookkeeper --yes', 'bookkeeper --yes --quiet'],
      ask: ({ name }) => `Delete expert ${safe(name)}?`,
    }),
  ],
  notes: ['An expert is named by its name, its id, or the last six characters of that.'],
};
