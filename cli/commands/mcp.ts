import { contracts } from '../../src/client/index.js';
import { type CommandGroup, command, textFlag } from '../command.js';
import type { Context } from '../context.js';
import { usageFault } from '../exit.js';
import { requestFields, requestFrom, withArguments } from '../fields.js';
import { readFileOrStdin } from '../input.js';
import { listCommand } from '../list.js';
import { acceptTools } from '../skills/accept.js';
import { skillColumns } from '../skills/columns.js';
import { safe } from '../text.js';

const endpoints = await contracts.skills();
const { 'mcp-add': adding, 'mcp-remove': removing } = endpoints;
/** Secrets, which come from files. */
const WITHOUT_FLAGS = ['env', 'headers'];

const add = command({
  name: 'add',
  aliases: ['create'],
  args: '[name] [url]',
  calls: [adding],
  examples: [
    'search https://mcp.example.org/mcp --headers-file -',
    'files --command mcp-server-filesystem --args .',
    'mine --command node --args /opt/mine/server.js --readable /opt/mine',
  ],
  fields: () => requestFields(adding.body, WITHOUT_FLAGS),
  flags: {
    envFile: textFlag('<file|->', 'Lines of NAME=value for its program'),
    headersFile: textFlag(
      '<file|->',
      'Lines of NAME=value, or Name: value, sent with every request',
    ),
  },
  takesData: true,
  notes: [
    'A program is confined: it reads the system, its own folder, and what --readable names.',
    'It finds no network without --network, which opens this machine to it as well.',
  ],
  run: async (context, { args, flags, fields, data }) => {
    const more = {
      env: await linesOf(context, flags.envFile),
      headers: await linesOf(context, flags.headersFile),
    };
    const body = await requestFrom(
      adding.body,
      { fields: withArguments(fields, args), data, more },
      context.at,
    );
    const skill = await (await context.client()).skills['mcp-add']({ body });
    const { id, status, reason, tools } = skill;
    const how = reason === null ? `${status}, ${tools.length} tools` : `${status}: ${reason}`;
    context.out.done(`Added ${safe(id)}, ${safe(how)}.`, skill, skillColumns);
  },
});

/** Names and values of a file's lines; the first `=` or `: ` divides each. */
const linesOf = async (
  context: Context,
  file: string | undefined,
): Promise<Record<string, string> | undefined> => {
  if (file === undefined) return undefined;
  const lines = (await readFileOrStdin(context, file))
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line, at) => {
      const [, name, value] = /^\s*([\w-]+)\s*(?:=|:\s)\s*(.*)$/.exec(line) ?? [];
      if (!name || value === undefined)
        throw usageFault(`Line ${at + 1} of ${file} is no NAME=value.`);
      return [name, value];
    }),
  );
};

const list = listCommand({
  endpoint: endpoints.list,
  summary: 'List the MCP servers',
  examples: ['', '--status failed', '--json'],
  rows: 'skills',
  columns: skillColumns,
  query: { source: 'mcp' },
  next: (rows) => {
    if (rows.length === 0) return 'No MCP servers. Add one: adjutant mcp add';
    const changed = rows.find(({ status }) => status === 'quarantined');
    return changed && `See what changed, and accept it: adjutant mcp accept ${safe(changed.id)}`;
  },
});

const refresh = command({
  name: 'refresh',
  args: '<server>',
  calls: [endpoints.refresh],
  examples: ['files', 'github --json', 'mcp list --output id | xargs -n1 adjutant mcp refresh'],
  run: async (context, { args }) => {
    const skill = await (await context.client()).skills.refresh({ id: args.server });
    const { id, status, reason } = skill;
    context.out.done(
      `${safe(id)} is ${status}${reason ? `: ${safe(reason)}` : ''}.`,
      skill,
      skillColumns,
    );
  },
});

const remove = command({
  name: 'delete',
  args: '<server>',
  calls: [removing],
  examples: ['files', 'files --yes', 'github --yes'],
  notes: ['One that stands in mcp.json is removed there.'],
  run: async (context, { args }) => {
    const client = await context.client();
    await context.ask.confirm(`Remove the MCP server ${safe(args.server)}?`);
    await client.skills['mcp-remove']({ name: args.server });
    context.out.done(`Removed ${safe(args.server)}.`);
  },
});

export const mcp: CommandGroup = {
  commands: [list, add, acceptTools, refresh, remove],
  notes: ['Those in mcp.json of the home, in the usual form, are here as well.'],
};
