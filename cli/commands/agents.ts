import { type Agent, type Client, contracts } from '../../src/client/index.js';
import { agentCrud, agentTableColumns } from '../agents/agent.js';
import { agentWait, eventLines, eventRow, followToEnd, tailAgent } from '../agents/tail.js';
import { buildColumns } from '../columns.js';
import { type CommandGroup, command, switchFlag } from '../command.js';
import { requestFields, requestFrom, withArguments } from '../fields.js';
import { readPipedText } from '../input.js';
import { everyPage } from '../pages.js';
import { safe } from '../text.js';

interface TreeAgent extends Agent {
  depth: number;
}

const indented = ({ depth, name }: TreeAgent): string =>
  depth === 0 ? name : `${'  '.repeat(depth - 1)}└ ${name}`;

const treeColumns = buildColumns<TreeAgent>(
  ...agentTableColumns
    .filter(({ name }) => name !== 'session')
    .map((column) => (column.name === 'name' ? { ...column, show: indented } : column)),
  ['parent=parentId:data'],
);

const tree = command({
  name: 'tree',
  args: '<agent>',
  summary: 'Show the tree of an agent and its sub-agents',
  examples: ['triage-415', '9qx1tb --json', 'triage-415 --fields name,status'],
  seeAlso: 'adjutant agents tail',
  run: async (context, { args }) => {
    const client = await context.client();
    const root = await findRootAgent(client, await agentCrud.id(client, args.agent));
    const rows = placed(root, await everyUnder(client, root.id));
    context.out.page({ reply: { agents: rows }, rows, columns: treeColumns });
  },
});

/** Returns the topmost ancestor that still exists. */
const findRootAgent = async (client: Client, id: string): Promise<Agent> => {
  const agent = await client.agents.get({ id });
  const { parentId } = agent;
  return parentId === null ? agent : findRootAgent(client, parentId);
};

const everyUnder = async (client: Client, rootId: string): Promise<Agent[]> => {
  const page = (cursor?: object) =>
    client.agents.list({ query: { rootId, limit: 200, ...cursor } });
  return (await everyPage('agents', page)).agents.reverse();
};

/** Orders agents: each before its sub-agents, which are in the order of creation. */
const placed = (agent: Agent, all: Agent[], depth = 0): TreeAgent[] => [
  { ...agent, depth },
  ...all
    .filter(({ parentId }) => parentId === agent.id)
    .flatMap((below) => placed(below, all, depth + 1)),
];

const endpoints = await contracts.agents();

const spawn = command({
  name: 'spawn',
  aliases: ['create', 'add'],
  args: '[prompt]',
  calls: [endpoints.spawn],
  examples: [
    '"What changed in the log of today?"',
    '- --name report < prompt.txt',
    '--data @agent.json',
    '"Say hello" --follow',
  ],
  flags: {
    follow: switchFlag('Follow the agent until it ends. Exit code 1 if the agent did not complete'),
  },
  fields: () => requestFields(endpoints.spawn.body),
  takesData: true,
  notes: ['Pass - to read the prompt from stdin.'],
  seeAlso: 'adjutant agents tail, adjutant agents wait',
  run: async (context, { args, flags, fields, data }) => {
    const input = withArguments(fields, args);
    const isGiven = data !== undefined || input.prompt !== undefined;
    const askPrompt = () => context.ask.text({ ask: 'Prompt', instead: 'the prompt' });
    const typed = isGiven ? input.prompt : await askPrompt();
    const prompt = typed === '-' ? await readPipedText(context) : typed;
    const filled = { fields, data, more: { prompt } };
    const body = await requestFrom(endpoints.spawn.body, filled, context.at);
    const agent = await (await context.client()).agents.spawn({ body });
    if (flags.follow) return followToEnd(context, agent);
    const follow = `Follow it: adjutant agents tail ${agent.id.slice(-6)}`;
    context.out.done(`Spawned ${safe(agent.name)}. ${follow}`, agent, agentTableColumns);
  },
});

const message = agentCrud.request({
  name: 'message',
  args: '<agent> <text>',
  endpoint: endpoints.message,
  examples: ['triage-415 "Only label it."', 'triage-415 - < note.txt', '9qx1tb "Once more" --json'],
  notes: ['Pass - to read the text from stdin.'],
  more: async (context, { args: { text } }) => ({
    content: text === '-' ? await readPipedText(context) : text,
  }),
  show: ({ out }, agent) =>
    out.done(
      `Message sent to ${safe(agent.name)}, which is ${agent.status}.`,
      agent,
      agentTableColumns,
    ),
});

const move = (name: 'pause' | 'resume' | 'stop', became: string) =>
  agentCrud.act(name, endpoints[name], {
    examples: [
      'triage-415',
      '9qx1tb --json',
      `agents list --hook-id hook_01j9… --output id | xargs -n1 adjutant agents ${name}`,
    ],
    message: (agent) => `${safe(agent.name)} ${became}.`,
  });

const events = agentCrud.request({
  name: 'events',
  args: '<agent>',
  endpoint: endpoints.events,
  examples: ['triage-415', 'triage-415 --after 40 --wait 25 --json', 'triage-415 --limit 10'],
  except: [],
  seeAlso: 'adjutant agents tail, which follows',
  say: ({ out }, { events, gap, oldestId }) => {
    for (const event of events) {
      const lines = out.format === 'table' ? eventLines(event, out.width) : [eventRow(event)];
      for (const line of lines) out.line(line);
    }
    if (gap) out.note(`-- events before ${oldestId} were dropped from the buffer --`);
  },
});

export const agentsGroup: CommandGroup = {
  commands: [
    agentCrud.list({
      examples: ['', '--status running --watch', '--untrusted --json'],
      next: ([first]) =>
        first
          ? `Follow one: adjutant agents tail ${first.id.slice(-6)}`
          : 'No agents. Spawn one: adjutant agents spawn "Say hello"',
      seeAlso: 'adjutant help agents',
    }),
    spawn,
    agentCrud.get({
      examples: ['triage-415', '9qx1tb --fields status,result', 'triage-415 --json'],
    }),
    message,
    move('pause', 'is paused'),
    move('resume', 'is resumed'),
    move('stop', 'is stopped'),
    agentCrud.delete({
      examples: ['triage-415', 'triage-415 --yes', '9qx1tb --yes'],
      notes: ['To stop an agent and keep it: adjutant agents stop'],
      ask: ({ name, status }) => `Delete agent ${safe(name)} (${status})?`,
    }),
    events,
    tailAgent,
    tree,
    agentWait,
  ],
  notes: ['Identify an agent by its name, its id, or the last six characters of the id.'],
};
