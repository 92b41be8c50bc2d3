import Boom from '@hapi/boom';
import type { createIdentify } from '../resources/auth/identity.js';
import type { Tickets } from '../resources/auth/tickets.js';
import type { SocketDoor } from '../resources/ws/door.js';
import { NoSession, SessionBusy } from '../runtime/agents/agent.js';
import { createChat } from '../runtime/agents/chat.js';
import { trustOf } from '../runtime/agents/taint.js';
import { NotOpen } from '../runtime/approvals/approval.js';
import { AnswerRefused, approvalRefusal } from '../runtime/approvals/spoken.js';
import type { Runtime } from '../runtime/runtime.js';
import type { AgentRow } from '../store/tables/agents.js';
import { createGrantRule } from './grants.js';

/** What `/ws` needs of the rest: who a token is, and where a chat message goes. */
export const socketDoor = (deps: {
  identify: ReturnType<typeof createIdentify>;
  tickets: Tickets;
  runtime: Runtime;
}): SocketDoor => {
  const { identify, tickets, runtime } = deps;
  const grants = createGrantRule(runtime.toolbox);
  const chat = createChat(runtime);
  return {
    identify: async (token) => {
      const who = await identify(token);
      if (!who) return null;
      const { userId, sessionId, expiresAt, scopes, impersonator } = who;
      const actor = impersonator && { actorSessionId: impersonator.sessionId };
      return { userId, sessionId, ...actor, expiresAt: Date.parse(expiresAt), scopes, token };
    },
    redeem: tickets.redeem,
    message: async (userId, message, { token, address }) => {
      const identity = async () => {
        const who = await identify(token);
        if (!who) throw Boom.unauthorized('Bad token');
        return who;
      };
      const refusal = async () => approvalRefusal(await identity());
      const check = async (agent: AgentRow) =>
        grants.refuseUse(await identity(), trustOf(agent).granted);
      const by = { userId, address, requestId: 'ws', refusal };
      try {
        return await chat(userId, { ...message, by, check });
      } catch (error) {
        if (error instanceof NoSession) throw Boom.notFound(error.message);
        if (error instanceof SessionBusy || error instanceof NotOpen) {
          throw Boom.conflict(error.message);
        }
        if (error instanceof AnswerRefused) {
          const statusCode = error.code === 'nothing_waits' ? 409 : 403;
          throw new Boom.Boom(error.message, { statusCode });
        }
        throw error;
      }
    },
  };
};
