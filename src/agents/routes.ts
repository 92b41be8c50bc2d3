import Boom from '@hapi/boom';
import {
  ApprovalNotPending,
  type Approvals,
  DecisionRefused,
  messageSender,
} from '../approvals/module.js';
import { type Expert, type Experts, modelAndPersona } from '../experts/module.js';
import type { FieldFault } from '../kernel/problem.js';
import { orNotFound, resource, throwIfFaults } from '../kernel/route.js';
import type { GrantRule } from '../permissions/module.js';
import { type Hub, readOrWait } from '../realtime/module.js';
import { type AgentRow, agentTable } from '../store/tables/agents.js';
import { viewer } from '../store/view.js';
import { type Toolbox, toolNameFaults } from '../tools/module.js';
import {
  AGENT_CHANNELS,
  InvalidTransition,
  isEventOfAgent,
  SessionBusy,
  SessionNotFound,
} from './agent.js';
import { Agent, agents } from './contract.js';
import type { AgentControl } from './control.js';
import type { CheckGrantedUse } from './granteduse.js';
import type { Models } from './models.js';
import type { AgentRows } from './rows.js';

export interface AgentsDeps {
  rows: AgentRows;
  control: AgentControl;
  approvals: Pick<Approvals, 'spoken'>;
  hub: Hub;
  choices: AgentChoices;
  refuseUse: CheckGrantedUse;
}

interface AgentChoices {
  models: Models;
  experts: Experts;
  toolbox: Toolbox;
  grants: GrantRule;
}

export const agentsResource = (deps: AgentsDeps) => {
  const { rows, control, choices } = deps;

  const change = async (
    userId: string,
    id: string,
    verb: (agent: AgentRow) => Promise<void>,
  ): Promise<Agent> => {
    await withHttpErrors(verb(await findOwnedAgent(rows, userId, id)));
    return viewAgent(await findOwnedAgent(rows, userId, id));
  };

  return resource('agents', agents, {
    list: async ({ query }, by) => {
      const page = await rows.list(by.userId, query);
      return { agents: page.rows.map(viewAgent), nextCursor: page.nextCursor };
    },
    spawn: async ({ body }, by) => {
      const { models, experts, toolbox, grants } = choices;
      const { expertId, tools = [], ...given } = body;
      const expert = await findNamedExpert(experts, by.userId, expertId);
      const ofTools = toolNameFaults(toolbox.of(by.userId), tools);
      throwIfFaults([
        ...agentFaults(models, by.userId, { model: body.model, expert }),
        ...ofTools.map(({ at, message }) => ({ path: `tools.${at}`, message })),
      ]);
      grants.refuse(by, grants.acting(by.userId, tools));
      const spawning = control.spawn({
        ...given,
        ...(body.tools && { tools }),
        ...modelAndPersona(models, {
          ...{ ...given, userId: by.userId },
          expert: expert ?? undefined,
        }),
        userId: by.userId,
        memberId: by.member?.userId,
        channel: 'api',
        untrusted: false,
        lane: by.userId,
      });
      const { id } = await withHttpErrors(spawning);
      return viewAgent(await findOwnedAgent(rows, by.userId, id));
    },
    get: async ({ id }, by) => viewAgent(await findOwnedAgent(rows, by.userId, id)),
    delete: async ({ id }, by) =>
      withHttpErrors(control.remove(await findOwnedAgent(rows, by.userId, id))),
    message: ({ id, body }, by) =>
      change(by.userId, id, async (agent) => {
        if (await deps.approvals.spoken(agent, body.content, messageSender(by))) return;
        await deps.refuseUse(by, agent);
        await control.message(agent, body.content);
      }),
    pause: ({ id }, by) => change(by.userId, id, control.pause),
    resume: ({ id }, by) => change(by.userId, id, control.resume),
    stop: ({ id }, by) => change(by.userId, id, control.stop),
    events: async ({ id, query }, by) => {
      const { after = 0, limit = 200, wait = 0 } = query;
      const { userId, signal } = by;
      await findOwnedAgent(rows, userId, id);
      const concerns = (data: unknown) => isEventOfAgent(data, id);
      const waiting = { userId, channels: AGENT_CHANNELS, concerns, ms: wait * 1000, signal };
      const [page] = await readOrWait(deps.hub, waiting, async () => {
        const read = await rows.events(id, after, limit);
        return read.events.length > 0 || wait === 0 ? [read] : [];
      });
      return page ?? rows.events(id, after, limit);
    },
  });
};

export const findOwnedAgent = async (
  rows: AgentRows,
  userId: string,
  id: string,
): Promise<AgentRow> => {
  return orNotFound(await rows.owned(userId, id), 'No agent with that id');
};

/** Undefined if the expert does not exist, null if none is named. */
export const findNamedExpert = async (
  experts: Pick<Experts, 'find'>,
  userId: string,
  id: string | undefined,
): Promise<Expert | null | undefined> => (id === undefined ? null : experts.find(userId, id));

export const agentFaults = (
  models: Models,
  userId: string,
  { model, expert }: { model?: string; expert: Expert | null | undefined },
): FieldFault[] => {
  const faults: FieldFault[] = [];
  if (model !== undefined && !models.has(userId, model)) {
    const message = `must be one of the models: ${models.names(userId).join(', ')}`;
    faults.push({ path: 'model', message });
  }
  if (expert === undefined) {
    faults.push({
      path: 'expertId',
      message: 'must be the ID of an expert; list them with GET /api/experts',
    });
  }
  return faults;
};

/** Maps errors of the runtime to 404, 409 and 403. */
export const withHttpErrors = async <T>(verb: Promise<T>): Promise<T> => {
  try {
    return await verb;
  } catch (error) {
    if (error instanceof SessionNotFound) throw Boom.notFound(error.message);
    if (error instanceof SessionBusy) throw Boom.conflict(error.message, { code: 'session_busy' });
    if (error instanceof ApprovalNotPending)
      throw Boom.conflict(error.message, { code: 'already_decided' });
    if (error instanceof DecisionRefused) {
      const { code, message } = error;
      const statusCode = error.isConflict ? 409 : 403;
      throw new Boom.Boom(message, { statusCode, data: { code } });
    }
    if (!(error instanceof InvalidTransition)) throw error;
    throw Boom.conflict(error.message, { code: 'impossible_move' });
  }
};

const viewAgent = viewer(agentTable, Agent, {
  usage: (row: AgentRow) => ({
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    costUsd: row.cost_usd,
  }),
});
