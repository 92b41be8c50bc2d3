import type { Agent, Client } from '../../src/client/index.js';
import type { TableColumn } from '../columns.js';
import { command } from '../command.js';
import { agentCrud, agentTableColumns } from './columns.js';

/** An agent and how many are above it. */
interface Placed extends Agent {
  depth: number;
}

const columns: TableColumn<Placed>[] = [
  ...agentTableColumns
    .filter(({ name }) => name !== 'session')
    .map((column) =>
      column.name === 'name' ? { ...column, show: (agent: Placed) => indented(agent) } : column,
    ),
  { name: 'parent', value: (agent) => agent.parentId, only: 'data' },
];

const indented = ({ depth, name }: Placed): string =>
  depth === 0 ? name : `${'  '.repeat(depth - 1)}└ ${name}`;

export const agentTree = command({
  name: 'tree',
  args: '<agent>',
  summary: 'The whole run that an agent belongs to: who began whom, and how they are',
  examples: ['triage-415', '9qx1tb --json', 'triage-415 --fields name,status'],
  seeAlso: 'adjutant agents tail',
  run: async (context, { args }) => {
    const client = await context.client();
    const root = await rootOf(client, await agentCrud.id(client, args.agent));
    const rows = placed(root, await everyUnder(client, root.id));
    context.out.page({ reply: { agents: rows }, rows, columns });
  },
});

/** The first of its tree, as far as that is still there. */
const rootOf = async (client: Client, id: string): Promise<Agent> => {
  const agent = await client.agents.get({ id });
  const { parentId } = agent;
  return parentId === null ? agent : rootOf(client, parentId);
};

const everyUnder = async (client: Client, rootId: string): Promise<Agent[]> => {
  const all: Agent[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.agents.list({ query: { rootId, limit: 200, cursor } });
    all.push(...page.agents);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return all.reverse();
};

/** Each before those that it began, these in the order in which it did. */
const placed = (agent: Agent, all: Agent[], depth = 0): Placed[] => [
  { ...agent, depth },
  ...all
    .filter(({ parentId }) => parentId === agent.id)
    .flatMap((below) => placed(below, all, depth + 1)),
];
