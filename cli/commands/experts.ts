import { type Client, contracts, type Expert } from '../../src/client/index.js';
import type { Column } from '../columns.js';
import { command, type Group } from '../command.js';
import { changedByEditor, editFlag, isEdited } from '../editing.js';
import { fieldsOf, requestFrom } from '../fields.js';
import { listing } from '../listing.js';
import { askNeeded } from '../needed.js';
import { idOf } from '../resolve.js';
import { safe } from '../text.js';
import { age } from '../times.js';

const endpoints = await contracts.experts();

const columns: Column<Expert>[] = [
  { name: 'id', value: (expert) => expert.id, only: 'data' },
  { name: 'name', value: (expert) => expert.name },
  { name: 'source', value: (expert) => expert.source },
  { name: 'description', value: (expert) => expert.description },
  { name: 'topic', value: (expert) => expert.topic },
  { name: 'model', value: (expert) => expert.model },
  {
    name: 'updated',
    value: (expert) => expert.updatedAt,
    show: ({ updatedAt }) => (updatedAt ? age(updatedAt) : ''),
  },
];

const list = listing({
  name: 'list',
  args: '',
  summary: endpoints.list.summary,
  examples: ['', '--source custom', '--json'],
  query: endpoints.list.query,
  key: 'experts',
  columns,
  open: async (context) => {
    const client = await context.client();
    return (query) => client.experts.list({ query });
  },
  next: (rows) =>
    rows.some(({ source }) => source === 'custom')
      ? undefined
      : 'Make one of your own: adjutant experts create',
  seeAlso: 'adjutant agents spawn --orchestrated, or --expert-id',
});

const get = command({
  name: 'get',
  args: '<expert>',
  summary: endpoints.get.summary,
  examples: ['engineer', 'bookkeeper --json', 'engineer --fields description,tools'],
  run: async (context, { args }) => {
    const client = await context.client();
    const id = await expertId(client, args.expert);
    context.out.item(await client.experts.get({ id }), columns);
  },
});

const create = command({
  name: 'create',
  args: '[name]',
  summary: endpoints.create.summary,
  examples: [
    'bookkeeper --description "Books invoices" --instructions "Check the sum twice"',
    'bookkeeper --data @bookkeeper.json',
    'bookkeeper --data @bookkeeper.json --topic money',
  ],
  fields: () => fieldsOf(endpoints.create.body, ['name']),
  takesData: true,
  run: async (context, { args, fields, data }) => {
    const given = { ...fields, ...(args.name !== undefined && { name: args.name }) };
    const needed = fieldsOf(endpoints.create.body);
    const asked = await askNeeded(context, needed, { fields: given, data });
    const filled = { fields: { ...given, ...asked }, data };
    const body = await requestFrom(endpoints.create.body, filled, context.at);
    const expert = await (await context.client()).experts.create({ body });
    context.out.done(`Created ${safe(expert.name)}.`, expert, columns);
  },
});

const update = command({
  name: 'update',
  args: '<expert>',
  summary: endpoints.update.summary,
  examples: [
    'bookkeeper --keywords invoice,receipt',
    'bookkeeper --data @bookkeeper.json',
    'bookkeeper --edit',
  ],
  fields: () => fieldsOf(endpoints.update.body),
  takesData: true,
  flags: { edit: editFlag },
  run: async (context, given) => {
    const schema = endpoints.update.body;
    const isByEditor = isEdited(context, given);
    const body = isByEditor ? undefined : await requestFrom(schema, given, context.at);
    const client = await context.client();
    const id = await expertId(client, given.args.expert);
    const expert = body
      ? await client.experts.update({ id, body })
      : await changedByEditor(context, {
          noun: 'expert',
          schema,
          present: await client.experts.get({ id }),
          send: (changes) => client.experts.update({ id, body: changes }),
        });
    if (expert) context.out.done(`Changed ${safe(expert.name)}.`, expert, columns);
  },
});

const remove = command({
  name: 'delete',
  args: '<expert>',
  summary: endpoints.delete.summary,
  examples: ['bookkeeper', 'bookkeeper --yes', 'bookkeeper --yes --quiet'],
  run: async (context, { args }) => {
    const client = await context.client();
    const expert = await client.experts.get({ id: await expertId(client, args.expert) });
    await context.ask.confirm(`Delete expert ${safe(expert.name)}?`);
    await client.experts.delete({ id: expert.id });
    context.out.done(`Deleted ${safe(expert.name)}.`);
  },
});

const expertId = (client: Client, typed: string): Promise<string> =>
  idOf(typed, {
    noun: 'expert',
    listed: 'experts list',
    page: async (cursor) => {
      const page = await client.experts.list({ query: { limit: 200, cursor } });
      return { rows: page.experts, nextCursor: page.nextCursor };
    },
  });

export const experts: Group = {
  name: 'experts',
  summary: 'The parts that agents play',
  commands: [list, get, create, update, remove],
  notes: ['An expert is named by its name, its id, or the last six characters of that.'],
};
