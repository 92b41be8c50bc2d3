import { contracts } from '../../src/client/index.js';
import { command, type Group } from '../command.js';
import { listing } from '../listing.js';
import { skillColumns, toolColumns } from '../skills/columns.js';
import { runTool } from '../skills/run.js';
import { safe } from '../text.js';

const endpoints = await contracts.skills();

const list = listing({
  name: 'list',
  args: '',
  summary: endpoints.list.summary,
  examples: ['', '--source folder', '--status quarantined'],
  query: endpoints.list.query,
  key: 'skills',
  columns: skillColumns,
  open: async (context) => {
    const client = await context.client();
    return (query) => client.skills.list({ query });
  },
  next: (rows) => {
    const changed = rows.find(({ status }) => status === 'quarantined');
    if (changed) return `See what changed, and accept it: adjutant mcp accept ${safe(changed.id)}`;
    const bad = rows.find(({ status }) => status === 'invalid' || status === 'failed');
    return bad && `What is wrong: adjutant skills get '${safe(bad.id)}'`;
  },
  seeAlso: 'adjutant skills tools, adjutant mcp add',
});

const get = command({
  name: 'get',
  args: '<skill>',
  summary: endpoints.get.summary,
  examples: ['files', 'pdf --json', 'time --fields id,status'],
  run: async (context, { args }) => {
    const client = await context.client();
    context.out.item(await client.skills.get({ id: args.skill }), skillColumns);
  },
});

const tools = listing({
  name: 'tools',
  args: '',
  summary: endpoints.tools.summary,
  examples: ['', '--skill-id files', '--all --json'],
  query: endpoints.tools.query,
  key: 'tools',
  columns: toolColumns,
  open: async (context) => {
    const client = await context.client();
    return (query) => client.skills.tools({ query });
  },
  next: ([first]) =>
    first && `Run one: adjutant skills run ${safe(first.skillId)}.${safe(first.name)}`,
});

export const skills: Group = {
  name: 'skills',
  summary: 'What agents can use: tools, skill folders, MCP servers',
  commands: [list, get, tools, runTool],
  notes: ['A skill folder lies in the home, under skills/<name>, and holds a SKILL.md.'],
};
