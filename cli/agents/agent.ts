import { type Agent, type Client, contracts } from '../../src/client/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import { buildColumns } from '../columns.js';
import { crud } from '../crud.js';
import { failed, usageFault } from '../exit.js';
import { type NamedKind, resolveId } from '../resolve.js';

export const agentTableColumns = buildColumns<Agent>(
  ['id:data', 'name', 'status:state'],
  { name: 'trust', value: (agent) => trustText(agent), isState: true },
  ['steps:number'],
  {
    name: 'cost',
    value: (agent) => agent.usage.costUsd,
    show: (agent) => agentCost(agent),
    isNumber: true,
  },
  ['created=createdAt:ago', 'short=id:tail'],
  {
    name: 'result',
    value: (agent) => agent.error ?? agent.result,
    show: (agent) => (agent.error ?? agent.result ?? '').split('\n', 1)[0] ?? '',
  },
  ['session=sessionId:data'],
);

export const trustText = ({ untrusted }: Agent): string => (untrusted ? 'untrusted' : 'trusted');

export const agentCost = ({ usage }: Agent): string => `$${usage.costUsd.toFixed(2)}`;

export const isAgentOver = ({ status }: Pick<Agent, 'status'>): boolean =>
  status === 'completed' || status === 'failed' || status === 'stopped';

export const agentCrud = crud({
  noun: 'agent',
  rows: 'agents',
  endpoints: await contracts.agents(),
  columns: agentTableColumns,
  named: (agent) => agent,
});

const MAX_ATTEMPTS = 10;
const PAUSE_MS = 500;

/** Finds the agent by its own name or id, or by the execution that spawned it. */
export const readAgent = async (
  client: Client,
  named: { agent?: string; execution?: string },
): Promise<Agent> => {
  const { agent, execution } = named;
  if ((agent === undefined) === (execution === undefined)) {
    throw usageFault(
      'Pass one agent, or one execution with --execution.',
      'See: adjutant agents list',
    );
  }
  if (agent !== undefined) return client.agents.get({ id: await agentCrud.id(client, agent) });
  return findSpawnedAgent(client, execution ?? '');
};

export const executionKind = (client: Client): NamedKind => ({
  noun: 'execution',
  listed: 'hooks executions <hook>',
  page: (cursor) => recentRuns(client, cursor),
});

/**
 * Waits for the agent of an execution. A newly accepted execution gets its agent a moment later.
 */
const findSpawnedAgent = async (client: Client, typed: string): Promise<Agent> => {
  const executionId = await resolveId(typed, executionKind(client));
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { agents } = await client.agents.list({ query: { executionId, limit: 1 } });
    if (agents[0]) return agents[0];
    await systemClock.wait(PAUSE_MS);
  }
  const short = executionId.slice(-6);
  throw failed(
    `Execution ${short} has started no agent: it is queued, has failed, or its hook has another action.`,
    `Show the execution: adjutant hooks find ${short}`,
  );
};

/** The newest runs of each hook; `cursor` is the place in the list of hooks. */
const recentRuns = async (client: Client, cursor: string | undefined) => {
  const { hooks, nextCursor } = await client.hooks.list({ query: { limit: 20, cursor } });
  const pages = await Promise.all(
    hooks.map(({ id }) => client.hooks.executions({ id, query: { limit: 200 } })),
  );
  const rows = pages.flatMap(({ executions }) =>
    executions.map(({ id, createdAt }) => ({ id, name: createdAt })),
  );
  return { rows, nextCursor };
};
