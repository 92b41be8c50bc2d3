import Boom from '@hapi/boom';
import { NotOpen } from '../../approvals/approval.js';
import { AnswerRefused, speakerOf } from '../../approvals/replytext.js';
import type { Experts } from '../../experts/experts.js';
import { type Caller, CustomReply, EventStream } from '../../kernel/contract/endpoint.js';
import { refuseFaults, resource } from '../../kernel/route.js';
import type { GrantRule } from '../../permissions/grants.js';
import type { AgentRow } from '../../store/tables/agents.js';
import { FINISHED, NoSession, SessionBusy } from '../agent.js';
import type { Chat } from '../chat.js';
import { beforeTurn, type FollowingDeps, waitForOneAgent } from '../continuation.js';
import type { Models } from '../models.js';
import { agentFaults } from '../problems.js';
import { agentTrust } from '../taint.js';
import { type ChatAnswer, chat } from './contract.js';
import { eventsOf } from './stream.js';
import { viewAnswer } from './view.js';

export interface ChatResourceDeps extends FollowingDeps {
  models: Models;
  experts: Pick<Experts, 'find'>;
  say: Chat;
  grants: GrantRule;
}

const WAIT_S = 60;

export const chatResource = (deps: ChatResourceDeps) => {
  const find = async (by: Caller, id: string): Promise<AgentRow> => {
    const agent = await deps.rows.owned(by.userId, id);
    if (!agent) throw Boom.notFound('No agent with that id');
    return agent;
  };

  const answerWithin = async (
    agent: AgentRow,
    seconds: number,
    { signal }: Caller,
  ): Promise<CustomReply<ChatAnswer>> => {
    const now = await waitForOneAgent(deps, agent, { ms: seconds * 1000, signal });
    if (!now) throw Boom.notFound('No agent with that id');
    return new CustomReply(FINISHED.includes(now.status) ? 200 : 202, viewAnswer(now));
  };

  return resource('chat', chat, {
    send: async ({ query, body, streaming }, by) => {
      const { message: content, expertId, ...wishes } = body;
      const expert = expertId === undefined ? null : await deps.experts.find(by.userId, expertId);
      refuseFaults(agentFaults(deps.models, { model: wishes.model, expert }));
      const check = (agent: AgentRow) => deps.grants.refuseUse(by, agentTrust(agent).granted);
      const said = { ...wishes, content, ...(expert && { expert }), by: speakerOf(by), check };
      const { agentId } = await orRefused(deps.say(by.userId, said));
      const agent = await find(by, agentId);
      if (!streaming) return answerWithin(agent, query.wait ?? WAIT_S, by);
      const after = await beforeTurn(deps.rows, agentId);
      return new EventStream(eventsOf(deps, agent, { after, signal: by.signal }));
    },
    get: async ({ agentId, query, streaming }, by) => {
      const agent = await find(by, agentId);
      if (!streaming) return answerWithin(agent, query.wait ?? WAIT_S, by);
      const after = afterOf(streaming.lastEventId) ?? query.after ?? 0;
      return new EventStream(eventsOf(deps, agent, { after, signal: by.signal }));
    },
  });
};

const afterOf = (lastEventId: string | null): number | null =>
  lastEventId !== null && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : null;

const orRefused = async <T>(saying: Promise<T>): Promise<T> => {
  try {
    return await saying;
  } catch (error) {
    if (error instanceof NoSession) throw Boom.notFound(error.message);
    if (error instanceof SessionBusy) throw Boom.conflict(error.message, { code: 'session_busy' });
    if (error instanceof NotOpen) throw Boom.conflict(error.message, { code: 'already_decided' });
    if (error instanceof AnswerRefused) throw refusedAnswer(error);
    throw error;
  }
};

/** Returns a 409 if nothing waits for a decision, otherwise a 403. */
const refusedAnswer = ({ code, message }: AnswerRefused): Boom.Boom =>
  new Boom.Boom(message, { statusCode: code === 'nothing_waits' ? 409 : 403, data: { code } });
