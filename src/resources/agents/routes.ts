import Boom from '@hapi/boom';
import { DEFAULT_LIMIT } from '../../kernel/page.js';
import { resource } from '../../kernel/route.js';
import { ImpossibleMove } from '../../runtime/agents/agent.js';
import type { AgentControl } from '../../runtime/agents/control.js';
import type { Models } from '../../runtime/agents/models.js';
import type { AgentRows } from '../../runtime/agents/rows.js';
import { type Hub, readOrWait } from '../../runtime/realtime/hub.js';
import type { AgentRow } from '../../store/tables.js';
import { type Agent, agents, type NewAgent } from './contract.js';
import type { AgentsStore } from './store.js';

export interface AgentsDeps {
  agents: AgentsStore;
  rows: AgentRows;
  control: AgentControl;
  models: Models;
  hub: Hub;
}

const CHANNELS = ['agent.status', 'agent.message', 'agent.tool_call'];

export const agentsResource = (deps: AgentsDeps) => {
  const find = async (userId: string, id: string): Promise<AgentRow> => {
    const row = await deps.rows.owned(userId, id);
    if (!row) throw Boom.notFound('No agent with that id');
    return row;
  };

  const change = async (
    userId: string,
    id: string,
    verb: (agent: AgentRow) => Promise<void>,
  ): Promise<Agent> => {
    await moved(verb(await find(userId, id)));
    return viewAgent(await find(userId, id));
  };

  return resource('agents', agents, {
    list: async ({ query }, by) => {
      const filters = { ...query, limit: query.limit ?? DEFAULT_LIMIT };
      const { rows, nextCursor } = await deps.agents.list(by.userId, filters);
      return { agents: rows.map(viewAgent), nextCursor };
    },
    spawn: async ({ body }, by) => {
      await check(deps, by.userId, body);
      const { id } = await deps.control.spawn({
        ...body,
        userId: by.userId,
        model: body.model ?? deps.models.default,
        channel: 'api',
        untrusted: false,
        lane: by.userId,
      });
      return viewAgent(await find(by.userId, id));
    },
    get: async ({ id }, by) => viewAgent(await find(by.userId, id)),
    delete: async ({ id }, by) => moved(deps.control.remove(await find(by.userId, id))),
    message: ({ id, body }, by) =>
      change(by.userId, id, (agent) => deps.control.message(agent, body.content)),
    pause: ({ id }, by) => change(by.userId, id, deps.control.pause),
    resume: ({ id }, by) => change(by.userId, id, deps.control.resume),
    stop: ({ id }, by) => change(by.userId, id, deps.control.stop),
    events: async ({ id, query }, by) => {
      const { after = 0, limit = 200, wait = 0 } = query;
      await find(by.userId, id);
      const [page] = await readOrWait(
        deps.hub,
        { userId: by.userId, channels: CHANNELS, ms: wait * 1000, signal: by.signal },
        async () => {
          const read = await deps.rows.events(id, after, limit);
          return read.events.length > 0 || wait === 0 ? [read] : [];
        },
      );
      return page ?? deps.rows.events(id, after, limit);
    },
  });
};

/** Impossible moves become 409. */
const moved = async (move: Promise<void>): Promise<void> => {
  try {
    await move;
  } catch (error) {
    if (!(error instanceof ImpossibleMove)) throw error;
    throw Boom.conflict(error.message, { code: 'impossible_move' });
  }
};

const check = async (deps: AgentsDeps, userId: string, body: NewAgent): Promise<void> => {
  const faults: { path: string; message: string }[] = [];
  if (body.model !== undefined && !deps.models.has(body.model)) {
    const message = `names no model; there are: ${deps.models.names().join(', ')}`;
    faults.push({ path: 'model', message });
  }
  if (body.expertId !== undefined) {
    faults.push({ path: 'expertId', message: 'names an expert, and experts are not built yet' });
  }
  if (body.sessionId !== undefined && !(await deps.agents.ownsSession(userId, body.sessionId))) {
    faults.push({ path: 'sessionId', message: 'names no session of yours' });
  }
  if (faults.length === 0) return;
  const said = faults.map(({ path, message }) => `${path} ${message}`).join('; ');
  throw Boom.badRequest(`Not accepted: ${said}`, { details: faults });
};

const viewAgent = (row: AgentRow): Agent => ({
  id: row.id,
  name: row.name,
  topic: row.topic,
  role: row.role,
  model: row.model,
  prompt: row.prompt,
  status: row.status,
  untrusted: row.untrusted === 1,
  parentId: row.parent_id,
  sessionId: row.session_id,
  hookId: row.hook_id,
  executionId: row.execution_id,
  steps: row.steps,
  usage: {
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    costUsd: row.cost_usd,
  },
  limits: JSON.parse(row.limits),
  result: row.result,
  error: row.error,
  createdAt: row.created_at,
  startedAt: row.started_at,
  finishedAt: row.finished_at,
});
