import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ApiError, type Client, contracts, type Reply } from '../../src/client/index.js';
import type { ToolLogin } from '../../src/providers/clitools/login.js';
import { columnsOf, shownAs } from '../columns.js';
import { type CommandGroup, type Context, command, on, textFlag } from '../command.js';
import { environmentWith, homeOf } from '../daemon/environment.js';
import { failed, usageFault } from '../exit.js';
import { requestCommand } from '../request.js';
import { ago, safe } from '../text.js';

const { routing, 'set-routing': change } = await contracts.models();

type RoutingBody = NonNullable<Parameters<Client['models']['set-routing']>[0]>['body'];
type RoutingReply = Reply<'models', 'routing'>;

const columns = columnsOf<RoutingReply['topics'][number]>(['topic', 'primary'], {
  name: 'fallbacks',
  value: (route) => route.fallbacks.join(','),
});

const show = ({ out }: Context, reply: RoutingReply): void => {
  out.page({ reply, rows: reply.topics, columns });
  if (out.format === 'table') out.note(`Everything else: ${reply.default}`);
};

const get = requestCommand({
  name: 'get',
  endpoint: routing,
  examples: ['', '--json', '--fields topic,primary'],
  show,
});

const set = command({
  name: 'set',
  args: '[topic]',
  calls: [change],
  summary: `${change.summary}: here one topic`,
  examples: [
    'triage --primary claude --fallback gpt,digest',
    'triage --fallback digest',
    '--default claude',
    'embeddings --primary nomic --yes',
  ],
  flags: {
    primary: textFlag('<model>', 'Answers first'),
    fallback: {
      value: '<names>',
      about: 'Tried after it, with commas between them',
      read: (given: string) => given.split(',').filter((name) => name !== ''),
    },
    default: textFlag('<model>', 'Answers where no topic is routed'),
  },
  notes: [
    'What is not given stays as it is.',
    'The model of the topic embeddings makes the vectors of all texts: that is asked first.',
  ],
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
    show(context, await changeRouting(context, client, body));
  },
});

/** Changes the routing, after a question if the texts of all users then go elsewhere. */
const changeRouting = async (
  context: Context,
  client: Client,
  body: RoutingBody,
): Promise<RoutingReply> => {
  try {
    return await client.models['set-routing']({ body });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'confirm_needed') throw error;
    const [means = ''] = error.message.split('. Confirm');
    await context.ask.confirm(`${safe(means)}. Do it?`);
    return client.models['set-routing']({ body: { ...body, confirm: true } });
  }
};

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

const endpoints = await contracts.clitools();

type CliToolState = Reply<'clitools', 'status'>['tools'][number];

const stateOf = ({ available, path, loggedIn }: CliToolState): string => {
  if (path === null) return 'not installed';
  if (!available) return 'does not run';
  return loggedIn ? 'ready' : 'not logged in';
};

const toolColumns = columnsOf<CliToolState>(
  ['name'],
  { name: 'state', value: stateOf, isState: true, only: 'table' },
  ['available:data', 'logged-in=loggedIn:data', 'version', 'path'],
);

const status = requestCommand({
  name: 'status',
  endpoint: endpoints.status,
  examples: ['', '--json', '--fields name,path'],
  seeAlso: 'adjutant models cli login',
  show: ({ out }, reply) => {
    out.page({ reply, rows: reply.tools, columns: toolColumns });
    const next = reply.tools.find(({ available, loggedIn }) => available && !loggedIn);
    if (next) out.note(`Log it in: adjutant models cli login ${next.name}`);
  },
});

const quotaColumns = columnsOf<Reply<'clitools', 'quota'>['quotas'][number]>(
  ['name', 'used:number', 'limit:number', 'exhausted'],
  shownAs('resets', ({ resetsAt }) => resetsAt, ago),
  ['source'],
);

const quota = requestCommand({
  name: 'quota',
  endpoint: endpoints.quota,
  examples: ['', '--json', '--fields name,used,limit'],
  notes: ['Only what a tool tells by itself; empty where it has told nothing.'],
  show: ({ out }, reply) => out.page({ reply, rows: reply.quotas, columns: quotaColumns }),
});

const login = command({
  name: 'login',
  args: '<tool>',
  summary: 'Log a tool in, on the machine of the daemon and as its user',
  examples: ['claude', 'codex --copy', 'gemini --home /srv/adjutant'],
  flags: { copy: on('Copy your own login of that tool instead') },
  notes: [
    'The tool begins in a HOME of its own below --home; log in as it asks, then leave it.',
    'The daemon reads nothing else of yours; your own login of the tool stays as it is.',
  ],
  seeAlso: 'adjutant models cli status',
  run: async (context, { args, flags }) => {
    const { loginOf } = await import('../../src/providers/clitools/login.js');
    const found = await loginOf(homeOf(context.flags.home), args.tool);
    if (!found) {
      throw usageFault(
        `"${args.tool}" is no such tool; there are claude, codex, gemini, opencode.`,
      );
    }
    await (flags.copy ? copy : begin)(context, args.tool, found);
    if (!(await found.isThere())) throw failed(`${args.tool} has left no login behind.`);
    const next = `adjutant models create my-${args.tool} --provider cli --model-id ${args.tool}`;
    context.out.done(`${args.tool} is logged in. Next: ${next}`);
  },
});

const copy = async (context: Context, name: string, found: ToolLogin): Promise<void> => {
  if (found.own === null) throw failed(`You have no login of ${name} here.`);
  await context.ask.confirm(`Let the daemon use ${safe(found.own)}, and a copy of it be kept?`);
  await found.copy();
};

/**
 * Runs the tool's login on the user's terminal; nothing that is typed passes through this process.
 */
const begin = async (context: Context, name: string, found: ToolLogin): Promise<void> => {
  if (!context.ask.isPossible) throw usageFault('A login is made at a terminal. Or add --copy.');
  const { argv, folder, env } = found;
  const [program, ...words] = argv;
  const child = spawn(program, words, { cwd: folder, env: environmentWith(env), stdio: 'inherit' });
  await once(child, 'exit').catch(() => {
    throw failed(`${name} cannot be started.`, 'Is it installed, and on your PATH?');
  });
};

export const modelTools: CommandGroup = {
  commands: [status, quota, login],
  notes: ['They run confined, with their own tools off; ours stay behind your permissions.'],
};
