import Boom from '@hapi/boom';
import { NotOpen } from '../approvals/approval.js';
import type { Approvals } from '../approvals/approvals.js';
import { AnswerRefused, speakerOf } from '../approvals/replytext.js';
import { cast } from '../experts/choosemodel.js';
import type { Experts } from '../experts/experts.js';
import { DEFAULT_LIMIT } from '../kernel/contract/page.js';
import { refuseFaults, resource } from '../kernel/route.js';
import type { GrantRule } from '../permissions/grants.js';
import { type Hub, readOrWait } from '../realtime/hub.js';
import type { AgentRow } from '../store/tables/agents.js';
import { faultsOfTools } from '../tools/names.js';
import type { Toolbox } from '../tools/toolbox.js';
import { ImpossibleMove, NoSession, SessionBusy } from './agent.js';
import { type Agent, agents, type NewAgent } from './contract.js';
import type { AgentControl } from './control.js';
import type { Models } from './models.js';
import { type AgentRequest, agentFaults } from './problems.js';
import type { AgentsStore } from './queries.js';
import type { AgentRows } from './rows.js';
import { agentTrust } from './taint.js';

export interface AgentsDeps {
  agents: AgentsStore;
  rows: AgentRows;
  control: AgentControl;
  models: Models;
  toolbox: Toolbox;
  approvals: Pick<Approvals, 'spoken'>;
  experts: Pick<Experts, 'find'>;
  hub: Hub;
  grants: GrantRule;
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
    await orRefused(verb(await find(userId, id)));
    return viewAgent(await find(userId, id));
  };

  return resource('agents', agents, {
    list: async ({ query }, by) => {
      const filters = { ...query, limit: query.limit ?? DEFAULT_LIMIT };
      const { rows, nextCursor } = await deps.agents.list(by.userId, filters);
      return { agents: rows.map(viewAgent), nextCursor };
    },
    spawn: async ({ body }, by) => {
      const { expertId, ...given } = body;
      const expert = expertId === undefined ? null : await deps.experts.find(by.userId, expertId);
      check(deps, body, expert);
      deps.grants.refuse(by, deps.grants.acting(body.tools ?? []));
      const spawning = deps.control.spawn({
        ...given,
        ...cast(deps.models, { ...given, expert: expert ?? undefined }),
        userId: by.userId,
        channel: 'api',
        untrusted: false,
        lane: by.userId,
      });
      const { id } = await orRefused(spawning);
      return viewAgent(await find(by.userId, id));
    },
    get: async ({ id }, by) => viewAgent(await find(by.userId, id)),
    delete: async ({ id }, by) => orRefused(deps.control.remove(await find(by.userId, id))),
    message: ({ id, body }, by) =>
      change(by.userId, id, async (agent) => {
        if (await deps.approvals.spoken(agent, body.content, speakerOf(by))) return;
        deps.grants.refuseUse(by, agentTrust(agent).granted);
        await deps.control.message(agent, body.content);
      }),
    pause: ({ id }, by) => change(by.userId, id, deps.control.pause),
    resume: ({ id }, by) => change(by.userId, id, deps.control.resume),
    stop: ({ id }, by) => change(by.userId, id, deps.control.stop),
    events: async ({ id, query }, by) => {
      const { after = 0, limit = 200, wait = 0 } = query;
      await find(by.userId, id);
      const [page] = await readOrWait(
        deps.hub,
        {
          userId: by.userId,
          channels: CHANNELS,
          concerns: (data) => hasAgentId(data, id),
          ms: wait * 1000,
          signal: by.signal,
        },
        async () => {
          const read = await deps.rows.events(id, after, limit);
          return read.events.length > 0 || wait === 0 ? [read] : [];
        },
      );
      return page ?? deps.rows.events(id, after, limit);
    },
  });
};

const hasAgentId = (data: unknown, id: string): boolean =>
  typeof data === 'object' && data !== null && 'agentId' in data && data.agentId === id;

/**
 * Turns an error of the runtime into an HTTP error: 409 for what is impossible now, 404 for another
 * user's session.
 */
const orRefused = async <T>(verb: Promise<T>): Promise<T> => {
  try {
    return await verb;
  } catch (error) {
    if (error instanceof NoSession) throw Boom.notFound(error.message);
    if (error instanceof SessionBusy) throw Boom.conflict(error.message, { code: 'session_busy' });
    if (error instanceof NotOpen) throw Boom.conflict(error.message, { code: 'already_decided' });
    if (error instanceof AnswerRefused) throw refusedAnswer(error);
    if (!(error instanceof ImpossibleMove)) throw error;
    throw Boom.conflict(error.message, { code: 'impossible_move' });
  }
};

const check = (
  { models, toolbox }: AgentsDeps,
  body: NewAgent,
  expert: AgentRequest['expert'],
): void => {
  const ofTools = faultsOfTools(toolbox, body.tools ?? []);
  refuseFaults([
    ...agentFaults(models, { model: body.model, expert }),
    ...ofTools.map(({ at, message }) => ({ path: `tools.${at}`, message })),
  ]);
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

/** Returns a 409 if nothing waits for a decision, otherwise a 403. */
const refusedAnswer = ({ code, message }: AnswerRefused): Boom.Boom =>
  new Boom.Boom(message, { statusCode: code === 'nothing_waits' ? 409 : 403, data: { code } });
