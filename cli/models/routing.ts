import { contracts, type Reply } from '../../src/client/index.js';
import { fieldColumns, type TableColumn } from '../columns.js';
import { type CommandGroup, command, type Flag, textFlag } from '../command.js';
import type { Context } from '../context.js';
import { failed, usageFault } from '../exit.js';

const { routing, 'set-routing': change } = await contracts.models();

type RoutingReply = Reply<'models', 'routing'>;

const columns: TableColumn<RoutingReply['topics'][number]>[] = [
  ...fieldColumns('topic', 'primary'),
  { name: 'fallbacks', value: (route) => route.fallbacks.join(',') },
];

const show = ({ out }: Context, reply: RoutingReply): void => {
  out.page({ reply, rows: reply.topics, columns });
  if (out.format === 'table') out.note(`Everything else: ${reply.default}`);
};

const get = command({
  name: 'get',
  calls: [routing],
  examples: ['', '--json', '--fields topic,primary'],
  run: async (context) => show(context, await (await context.client()).models.routing()),
});

const names: Flag<string[]> = {
  value: '<names>',
  about: 'Tried after it, with commas between them',
  read: (given) => given.split(',').filter((name) => name !== ''),
};

const set = command({
  name: 'set',
  args: '[topic]',
  calls: [change],
  summary: `${change.summary}: here one topic`,
  examples: [
    'triage --primary claude --fallback gpt,digest',
    'triage --fallback digest',
    '--default claude',
  ],
  flags: {
    primary: textFlag('<model>', 'Answers first'),
    fallback: names,
    default: textFlag('<model>', 'Answers where no topic is routed'),
  },
  notes: ['What is not given stays as it is.'],
  run: async (context, { args, flags }) => {
    const { primary, fallback, default: chosen } = flags;
    const isRoute = primary !== undefined || fallback !== undefined;
    if (isRoute !== (args.topic !== undefined)) {
      throw usageFault('A topic goes with --primary or --fallback, and they with a topic.');
    }
    if (!isRoute && chosen === undefined) throw usageFault('Give a topic, or --default.');
    const client = await context.client();
    const { topics } = await client.models.routing();
    const others = topics.filter(({ topic }) => topic !== args.topic);
    const before = topics.find(({ topic }) => topic === args.topic);
    const first = primary ?? before?.primary;
    if (isRoute && first === undefined) throw usageFault('A new topic needs --primary.');
    const route = { topic: args.topic ?? '', primary: first ?? '' };
    const fallbacks = fallback ?? before?.fallbacks ?? [];
    const body = {
      ...(chosen !== undefined && { default: chosen }),
      ...(isRoute && { topics: [...others, { ...route, fallbacks }] }),
    };
    show(context, await client.models['set-routing']({ body }));
  },
});

const remove = command({
  name: 'remove',
  args: '<topic>',
  calls: [change],
  summary: 'Leave a topic to the default',
  examples: ['triage', 'report --json', 'triage --quiet'],
  run: async (context, { args }) => {
    const client = await context.client();
    const { topics } = await client.models.routing();
    const left = topics.filter(({ topic }) => topic !== args.topic);
    if (left.length === topics.length) {
      throw failed(`No topic "${args.topic}" is routed.`, 'See: adjutant models routing get');
    }
    show(context, await client.models['set-routing']({ body: { topics: left } }));
  },
});

export const modelRouting: CommandGroup = {
  commands: [get, set, remove],
};
