import Boom from '@hapi/boom';
import type { createIdentify } from '../accounts/auth/identity.js';
import type { Tickets } from '../accounts/auth/tickets.js';
import { NoSession, SessionBusy } from '../agents/agent.js';
import { createChat } from '../agents/chat.js';
import { agentTrust } from '../agents/taint.js';
import { NotOpen } from '../approvals/approval.js';
import { AnswerRefused, approvalRefusal } from '../approvals/replytext.js';
import type { SocketDoor } from '../http/socket/socketserver.js';
import type { AgentRow } from '../store/tables/agents.js';
import { createGrantRule } from './grants.js';
import type { Runtime } from './runtime.js';

/** Opens what `/ws` needs: the identity of a token, and the target of a chat message. */
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
        grants.refuseUse(await identity(), agentTrust(agent).granted);
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
