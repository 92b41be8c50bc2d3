import Boom from '@hapi/boom';
import { messageSender } from '../../approvals/module.js';
import type { Experts } from '../../experts/module.js';
import { type Caller, CustomReply, EventStream } from '../../kernel/contract/endpoint.js';
import { refuseFaults, resource } from '../../kernel/route.js';
import type { AgentRow } from '../../store/tables/agents.js';
import { FINISHED } from '../agent.js';
import type { Chat } from '../chat.js';
import type { RefuseUse } from '../granteduse.js';
import type { Models } from '../models.js';
import { agentFaults, namedExpert, orRefused, ownedAgent } from '../routes.js';
import { type ChatAnswer, chat } from './contract.js';
import {
  eventsOf,
  type FollowingDeps,
  seqBeforeTurn,
  viewAnswer,
  waitForOneAgent,
} from './stream.js';

export interface ChatResourceDeps extends FollowingDeps {
  models: Models;
  experts: Pick<Experts, 'find'>;
  say: Chat;
  refuseUse: RefuseUse;
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
    const answer = viewAnswer(now);
    return new CustomReply(FINISHED.includes(now.status) ? 200 : 202, answer);
  };

  return resource('chat', chat, {
    send: async ({ query, body, streaming }, by) => {
      const { message: content, expertId, ...wishes } = body;
      const expert = await namedExpert(deps.experts, by.userId, expertId);
      refuseFaults(agentFaults(deps.models, { model: wishes.model, expert }));
      const check = (agent: AgentRow) => deps.refuseUse(by, agent);
      const input = { ...wishes, content, ...(expert && { expert }), by: messageSender(by), check };
      const { agentId } = await orRefused(deps.say(by.userId, input));
      const agent = await ownedAgent(deps.rows, by.userId, agentId);
      if (!streaming) return answerWithin(agent, query.wait ?? WAIT_S, by);
      const after = await seqBeforeTurn(deps.rows, agentId);
      return new EventStream(eventsOf(deps, agent, { after, signal: by.signal }));
    },
    get: async ({ agentId, query, streaming }, by) => {
      const agent = await ownedAgent(deps.rows, by.userId, agentId);
      if (!streaming) return answerWithin(agent, query.wait ?? WAIT_S, by);
      const after = afterOf(streaming.lastEventId) ?? query.after ?? 0;
      return new EventStream(eventsOf(deps, agent, { after, signal: by.signal }));
    },
  });
};

const afterOf = (lastEventId: string | null): number | null =>
  lastEventId !== null && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : null;
