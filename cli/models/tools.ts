import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { contracts, type Reply } from '../../src/client/index.js';
import type { ToolLogin } from '../../src/providers/clitools/login.js';
import { fieldColumns, shownAs, type TableColumn } from '../columns.js';
import { type CommandGroup, command, on } from '../command.js';
import type { Context } from '../context.js';
import { environmentWith, homeOf } from '../daemon/environment.js';
import { failed, usageFault } from '../exit.js';
import { safe } from '../text.js';
import { ago } from '../times.js';

const endpoints = await contracts.clitools();

type CliToolState = Reply<'clitools', 'status'>['tools'][number];

const toolColumns: TableColumn<CliToolState>[] = [
  { name: 'name', value: (tool) => tool.name },
  { name: 'state', value: (tool) => stateOf(tool), isState: true, only: 'table' },
  { name: 'available', value: (tool) => tool.available, only: 'data' },
  { name: 'logged-in', value: (tool) => tool.loggedIn, only: 'data' },
  ...fieldColumns('version', 'path'),
];

const stateOf = ({ available, path, loggedIn }: CliToolState): string => {
  if (path === null) return 'not installed';
  if (!available) return 'does not run';
  return loggedIn ? 'ready' : 'not logged in';
};

const status = command({
  name: 'status',
  calls: [endpoints.status],
  examples: ['', '--json', '--fields name,path'],
  seeAlso: 'adjutant models cli login',
  run: async (context) => {
    const reply = await (await context.client()).clitools.status();
    context.out.page({ reply, rows: reply.tools, columns: toolColumns });
    const next = reply.tools.find(({ available, loggedIn }) => available && !loggedIn);
    if (next) context.out.note(`Log it in: adjutant models cli login ${next.name}`);
  },
});

type ToolQuotaRow = Reply<'clitools', 'quota'>['quotas'][number];

const quotaColumns: TableColumn<ToolQuotaRow>[] = [
  { name: 'name', value: (quota) => quota.name },
  { name: 'used', value: (quota) => quota.used, isNumber: true },
  { name: 'limit', value: (quota) => quota.limit, isNumber: true },
  { name: 'exhausted', value: (quota) => quota.exhausted },
  shownAs('resets', (quota) => quota.resetsAt, ago),
  { name: 'source', value: (quota) => quota.source },
];

const quota = command({
  name: 'quota',
  calls: [endpoints.quota],
  examples: ['', '--json', '--fields name,used,limit'],
  notes: ['Only what a tool tells by itself; empty where it has told nothing.'],
  run: async (context) => {
    const reply = await (await context.client()).clitools.quota();
    context.out.page({ reply, rows: reply.quotas, columns: quotaColumns });
  },
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

/** At the person's own terminal; nothing of what is typed passes through here. */
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
