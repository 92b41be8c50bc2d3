import Boom from '@hapi/boom';
import { messageSender } from '../../approvals/module.js';
import type { Experts } from '../../experts/module.js';
import { type Caller, CustomReply, EventStream } from '../../kernel/contract/endpoint.js';
import { resource, throwIfFaults } from '../../kernel/route.js';
import type { AgentRow } from '../../store/tables/agents.js';
import { FINISHED } from '../agent.js';
import type { Chat } from '../chat.js';
import type { CheckGrantedUse } from '../granteduse.js';
import type { Models } from '../models.js';
import { agentFaults, findNamedExpert, findOwnedAgent, withHttpErrors } from '../routes.js';
import { type ChatAnswer, chat } from './contract.js';
import {
  type FollowingDeps,
  readAnswer,
  sequenceBeforeTurn,
  streamChatEvents,
  waitForOneAgent,
} from './stream.js';

export interface ChatResourceDeps extends FollowingDeps {
  models: Models;
  experts: Pick<Experts, 'find'>;
  say: Chat;
  refuseUse: CheckGrantedUse;
}

const WAIT_S = 60;

export const chatResource = (deps: ChatResourceDeps) => {
  const answerWithin = async (
    agent: AgentRow,
    seconds: number,
    { signal }: Caller,
  ): Promise<CustomReply<ChatAnswer>> => {
    const now = await waitForOneAgent(deps, agent, { ms: seconds * 1000, signal });
    if (!now) throw Boom.notFound('No agent with that id');
    const answer = await readAnswer(deps, now);
    return new CustomReply(FINISHED.includes(now.status) ? 200 : 202, answer);
  };

  return resource('chat', chat, {
    send: async ({ query, body, streaming }, by) => {
      const { message: content, expertId, ...wishes } = body;
      const expert = await findNamedExpert(deps.experts, by.userId, expertId);
      throwIfFaults(agentFaults(deps.models, by.userId, { model: wishes.model, expert }));
      const check = (agent: AgentRow) => deps.refuseUse(by, agent);
      const input = { ...wishes, content, ...(expert && { expert }), by: messageSender(by), check };
      const { agentId } = await withHttpErrors(deps.say(by.userId, input));
      const agent = await findOwnedAgent(deps.rows, by.userId, agentId);
      if (!streaming) return answerWithin(agent, query.wait ?? WAIT_S, by);
      const after = await sequenceBeforeTurn(deps.rows, agentId);
      return new EventStream(streamChatEvents(deps, agent, { after, signal: by.signal }));
    },
    get: async ({ agentId, query, streaming }, by) => {
      const agent = await findOwnedAgent(deps.rows, by.userId, agentId);
      if (!streaming) return answerWithin(agent, query.wait ?? WAIT_S, by);
      const after = parseLastEventId(streaming.lastEventId) ?? query.after ?? 0;
      const from = { after, isResumed: true, signal: by.signal };
      return new EventStream(streamChatEvents(deps, agent, from));
    },
  });
};

const parseLastEventId = (lastEventId: string | null): number | null =>
  lastEventId !== null && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : null;
