import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ApiError, type Client, contracts, type Reply } from '../../src/client/index.js';
import type { ToolLogin } from '../../src/providers/clitools/login.js';
import { buildColumns, formattedColumn } from '../columns.js';
import { type CommandGroup, type Context, command, switchFlag, textFlag } from '../command.js';
import { environmentWith, resolveHome } from '../daemon/environment.js';
import { failed, usageFault } from '../exit.js';
import { requestCommand } from '../request.js';
import { ago, safe } from '../text.js';

const { routing, 'set-routing': change } = await contracts.models();

type RoutingBody = NonNullable<Parameters<Client['models']['set-routing']>[0]>['body'];
type RoutingReply = Reply<'models', 'routing'>;

const columns = buildColumns<RoutingReply['topics'][number]>(['topic', 'primary'], {
  name: 'fallbacks',
  value: (route) => route.fallbacks.join(','),
});

const show = ({ out }: Context, reply: RoutingReply): void => {
  out.page({ reply, rows: reply.topics, columns });
  if (out.format === 'table') out.note(`All other topics: ${reply.default}`);
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
  summary: 'Set the models of a topic',
  examples: [
    'triage --primary claude --fallback gpt,digest',
    'triage --fallback digest',
    '--default claude',
    'embeddings --primary nomic --yes',
  ],
  flags: {
    primary: textFlag('<model>', 'Primary model of the topic'),
    fallback: {
      value: '<names>',
      about: 'Fallback models in the order of use, separated by commas',
      read: (input: string) => input.split(',').filter((name) => name !== ''),
    },
    default: textFlag('<model>', 'Default model, for topics without a route'),
  },
  notes: [
    'Values that are not passed stay unchanged.',
    'The model of the topic embeddings computes the vectors of all texts, so the ' +
      'command asks first.',
  ],
  run: async (context, { args, flags }) => {
    const { primary, fallback, default: chosen } = flags;
    const isRoute = primary !== undefined || fallback !== undefined;
    if (isRoute !== (args.topic !== undefined)) {
      throw usageFault('Pass a topic together with --primary or --fallback.');
    }
    if (!isRoute && chosen === undefined) {
      throw usageFault('Pass a topic together with --primary or --fallback, or pass --default.');
    }
    const client = await context.client();
    const { topics } = await client.models.routing();
    const others = topics.filter(({ topic }) => topic !== args.topic);
    const before = topics.find(({ topic }) => topic === args.topic);
    const first = primary ?? before?.primary;
    if (isRoute && first === undefined)
      throw usageFault('A new topic requires a primary model. Pass --primary <model>.');
    const route = { topic: args.topic ?? '', primary: first ?? '' };
    const fallbacks = fallback ?? before?.fallbacks ?? [];
    const body = {
      ...(chosen !== undefined && { default: chosen }),
      ...(isRoute && { topics: [...others, { ...route, fallbacks }] }),
    };
    show(context, await changeRouting(context, client, body));
  },
});

/** Changes the routing. Asks first if this sends the texts of all users elsewhere. */
const changeRouting = async (
  context: Context,
  client: Client,
  body: RoutingBody,
): Promise<RoutingReply> => {
  try {
    return await client.models['set-routing']({ body });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'confirm_needed') throw error;
    const [means = ''] = error.message.split('. Pass confirm');
    await context.ask.confirm(`${safe(means)}. Continue?`);
    return client.models['set-routing']({ body: { ...body, confirm: true } });
  }
};

const remove = command({
  name: 'remove',
  args: '<topic>',
  calls: [change],
  summary: 'Reset a topic to the default model',
  examples: ['triage', 'report --json', 'triage --quiet'],
  run: async (context, { args }) => {
    const client = await context.client();
    const { topics } = await client.models.routing();
    const left = topics.filter(({ topic }) => topic !== args.topic);
    if (left.length === topics.length) {
      throw failed(
        `The topic "${args.topic}" has no route.`,
        'List the routes: adjutant models routing get',
      );
    }
    show(context, await client.models['set-routing']({ body: { topics: left } }));
  },
});

export const modelRouting: CommandGroup = {
  commands: [get, set, remove],
};

const endpoints = await contracts.clitools();

type CliToolState = Reply<'clitools', 'status'>['tools'][number];

const formatToolState = ({ available, path, loggedIn }: CliToolState): string => {
  if (path === null) return 'not installed';
  if (!available) return 'does not run';
  return loggedIn ? 'ready' : 'not logged in';
};

const toolColumns = buildColumns<CliToolState>(
  ['name'],
  { name: 'state', value: formatToolState, isState: true, only: 'table' },
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

const quotaColumns = buildColumns<Reply<'clitools', 'quota'>['quotas'][number]>(
  ['name', 'used:number', 'limit:number', 'exhausted'],
  formattedColumn('resets', ({ resetsAt }) => resetsAt, ago),
  ['source'],
);

const quota = requestCommand({
  name: 'quota',
  endpoint: endpoints.quota,
  examples: ['', '--json', '--fields name,used,limit'],
  notes: ['Shows only quotas that a tool has reported. Empty if no tool has reported any.'],
  show: ({ out }, reply) => out.page({ reply, rows: reply.quotas, columns: quotaColumns }),
});

const login = command({
  name: 'login',
  args: '<tool>',
  summary: 'Log the daemon in to a command-line tool',
  examples: ['claude', 'codex --copy', 'gemini --home /srv/adjutant'],
  flags: {
    copy: switchFlag('Copy your login of the command-line tool from this machine to the daemon'),
  },
  notes: [
    'The tool starts with a separate HOME below --home. Log in as the tool asks, then exit the tool.',
    'The daemon does not read your own login of the tool, which stays unchanged.',
  ],
  seeAlso: 'adjutant models cli status',
  run: async (context, { args, flags }) => {
    const { prepareLogin } = await import('../../src/providers/clitools/login.js');
    const found = await prepareLogin(resolveHome(context.flags.home), args.tool);
    if (!found) {
      throw usageFault(`Unknown tool "${args.tool}". Tools: claude, codex, gemini, opencode.`);
    }
    await (flags.copy ? copy : begin)(context, args.tool, found);
    if (!(await found.isThere()))
      throw failed(`${args.tool} stored no login. Run the command again and log in.`);
    const next = `adjutant models create my-${args.tool} --provider cli --model-id ${args.tool}`;
    context.out.done(`${args.tool} is logged in. Next: ${next}`);
  },
});

const copy = async (context: Context, name: string, found: ToolLogin): Promise<void> => {
  if (found.own === null)
    throw failed(
      `You have no login of ${name} on this machine. Run the command without --copy to log in.`,
    );
  await context.ask.confirm(`Allow the daemon to use ${safe(found.own)} and to keep a copy of it?`);
  await found.copy();
};

/**
 * Runs the login of the tool on the terminal. Nothing that is typed passes through this process.
 */
const begin = async (context: Context, name: string, found: ToolLogin): Promise<void> => {
  if (!context.ask.isPossible)
    throw usageFault('A login requires a terminal. Without a terminal, add --copy and --yes.');
  const { argv, folder, env } = found;
  const [program, ...words] = argv;
  const child = spawn(program, words, { cwd: folder, env: environmentWith(env), stdio: 'inherit' });
  await once(child, 'exit').catch(() => {
    throw failed(`Cannot start ${name}.`, 'Check that it is installed and on your PATH.');
  });
};

export const modelTools: CommandGroup = {
  commands: [status, quota, login],
  notes: [
    'The tools run in a sandbox, with their own tools off. Those of Adjutant need your ' +
      'permissions.',
  ],
};
