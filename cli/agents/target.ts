import { setTimeout as pause } from 'node:timers/promises';
import type { Agent, Client } from '../../src/client/index.js';
import { failed, usageFault } from '../exit.js';
import { resolveId } from '../resolve.js';
import { agentCrud } from './columns.js';

const PATIENCE = 10;
const PAUSE_MS = 500;

/** The agent that was named itself, or by the run of a hook that began it. */
export const readAgent = async (
  client: Client,
  named: { agent?: string; execution?: string },
): Promise<Agent> => {
  const { agent, execution } = named;
  if ((agent === undefined) === (execution === undefined)) {
    throw usageFault('Name one agent, or one run with --execution.', 'See: adjutant agents list');
  }
  if (agent !== undefined) return client.agents.get({ id: await agentCrud.id(client, agent) });
  return begunBy(client, execution ?? '');
};

/** A run that has just been accepted gets its agent a moment later. */
const begunBy = async (client: Client, typed: string): Promise<Agent> => {
  const executionId = await resolveId(typed, {
    noun: 'execution',
    listed: 'hooks executions <hook>',
    page: (cursor) => recentRuns(client, cursor),
  });
  for (let attempt = 0; attempt < PATIENCE; attempt++) {
    const { agents } = await client.agents.list({ query: { executionId, limit: 1 } });
    if (agents[0]) return agents[0];
    await pause(PAUSE_MS);
  }
  throw failed(`The run ${executionId.slice(-6)} has no agent, or none yet.`);
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
