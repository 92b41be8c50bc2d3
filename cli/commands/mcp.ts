import { contracts, type SkillReply } from '../../src/client/index.js';
import { type CommandGroup, type Context, command, textFlag } from '../command.js';
import { usageFault } from '../exit.js';
import { readFileOrStdin } from '../input.js';
import { listCommand, requestCommand } from '../request.js';
import { safe } from '../text.js';
import { changeNote, skillColumns } from './skills.js';

const endpoints = await contracts.skills();

const acceptTools = command({
  name: 'accept',
  args: '<server>',
  calls: [endpoints.accept],
  examples: ['github', 'github --yes', 'github --yes --json'],
  notes: ['The command shows the changes and asks. It accepts only what was shown.'],
  run: async (context, { args }) => {
    const client = await context.client();
    const { id, pending } = await client.skills.get({ id: args.server });
    if (!pending) return context.out.note(`${safe(id)} has no changes to accept.`);
    for (const tool of pending.tools)
      for (const line of renderToolChange(tool)) context.out.note(line);
    await context.ask.confirm(`Allow agents to use these tools of ${safe(id)} as they are now?`);
    const skill = await client.skills.accept({ id, body: { digest: pending.digest } });
    context.out.done(`Accepted: ${safe(id)} is ${skill.status}.`, skill, skillColumns);
  },
});

type ToolChange = NonNullable<SkillReply['pending']>['tools'][number];

const renderToolChange = ({ name, before, after }: ToolChange): string[] => {
  if (!before) return [`${safe(name)} is new`, ...marked('+', after)];
  return [`${safe(name)} is changed`, ...marked('-', before), ...marked('+', after)];
};

const marked = (mark: string, { description, inputSchema }: ToolChange['after']): string[] =>
  [...description.split('\n'), JSON.stringify(inputSchema)].map(
    (line) => `  ${mark} ${safe(line)}`,
  );

const add = requestCommand({
  name: 'add',
  aliases: ['create'],
  args: '[name] [url]',
  endpoint: endpoints['mcp-add'],
  examples: [
    'search https://mcp.example.org/mcp --headers-file -',
    'files --command mcp-server-filesystem --args .',
    'mine --command node --args /opt/mine/server.js --readable /opt/mine',
    'acme-search https://mcp.example.org/mcp --org acme',
  ],
  // Secrets, which are read from files.
  except: ['env', 'headers'],
  areFields: true,
  flags: {
    envFile: textFlag(
      '<file|->',
      'File with environment variables of the program, one NAME=value per line',
    ),
    headersFile: textFlag(
      '<file|->',
      'File with headers sent with every request, one NAME=value or Name: value per line',
    ),
  },
  takesData: true,
  notes: [
    'The program is confined: the program can read the system, a separate folder, and the paths in --readable.',
    'The program has no network without --network, which also allows access to this machine.',
  ],
  more: async (context, { flags }) => ({
    env: await readKeyValueFile(context, flags.envFile),
    headers: await readKeyValueFile(context, flags.headersFile),
  }),
  show: ({ out }, skill) => {
    const { id, status, reason, tools } = skill;
    const how = reason === null ? `${status}, ${tools.length} tools` : `${status}: ${reason}`;
    out.done(`Added ${safe(id)}, ${safe(how)}.`, skill, skillColumns);
  },
});

const readKeyValueFile = async (
  context: Context,
  file: string | undefined,
): Promise<Record<string, string> | undefined> => {
  if (file === undefined) return undefined;
  const lines = (await readFileOrStdin(context, file)).split(/\r?\n/);
  return Object.fromEntries(
    lines.flatMap((line, at) => {
      if (line.trim() === '') return [];
      const [, name, value] = /^\s*([\w-]+)\s*(?:=|:\s)\s*(.*)$/.exec(line) ?? [];
      if (!name || value === undefined)
        throw usageFault(
          `Line ${at + 1} of ${file === '-' ? 'stdin' : file} is not in the form NAME=value or Name: value.`,
        );
      return [[name, value]];
    }),
  );
};

const list = listCommand({
  endpoint: endpoints.list,
  summary: 'List MCP servers',
  examples: ['', '--status failed', '--org acme --json'],
  rows: 'skills',
  columns: skillColumns,
  query: { source: 'mcp' },
  next: (rows) =>
    rows.length === 0 ? 'No MCP servers. Add one: adjutant mcp add' : changeNote(rows),
});

const refresh = requestCommand({
  name: 'refresh',
  args: '<server>',
  endpoint: endpoints.refresh,
  examples: ['files', 'github --json', 'mcp list --output id | xargs -n1 adjutant mcp refresh'],
  at: (_, { server }) => ({ id: server }),
  show: ({ out }, skill) => {
    const why = skill.reason ? `: ${safe(skill.reason)}` : '';
    out.done(`${safe(skill.id)} is ${skill.status}${why}.`, skill, skillColumns);
  },
});

const remove = requestCommand({
  name: 'delete',
  args: '<server>',
  endpoint: endpoints['mcp-remove'],
  examples: ['files', 'files --yes', 'github --yes'],
  notes: ['A server from mcp.json in the home of the daemon is removed in that file.'],
  at: (_, { server }) => ({ name: server }),
  confirm: ({ args: { server } }) => `Remove the MCP server ${safe(server)}?`,
  show: ({ out }, _, { args: { server } }) => out.done(`Removed ${safe(server)}.`),
});

export const mcp: CommandGroup = {
  commands: [list, add, acceptTools, refresh, remove],
  notes: ['Servers in mcp.json of the home, in the usual form, are included.'],
};
