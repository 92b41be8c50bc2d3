import Boom from '@hapi/boom';
import type { Accounts } from '../../accounts/module.js';
import { type Agents, SessionBusy, SessionNotFound } from '../../agents/module.js';
import { ApprovalNotPending, approvalRefusal, DecisionRefused } from '../../approvals/module.js';
import type { Permissions } from '../../permissions/module.js';
import type { AgentRow } from '../../store/tables/agents.js';
import type { SocketService } from './socketserver.js';

export const DELTA_CHANNEL = 'agent.delta';

export const CHANNELS = {
  'agent.status': 'agents:read',
  'agent.message': 'agents:read',
  'agent.tool_call': 'agents:read',
  [DELTA_CHANNEL]: 'agents:read',
  'hook.execution': 'hooks:read',
  'hook.reply': 'hooks:read',
  approval: 'approvals:read',
  notification: 'notifications:read',
  'operation.progress': 'operations:read',
  'memory.saved': 'memories:read',
  'task.changed': 'tasks:read',
  'recurring.run': 'recurring-tasks:read',
  'pipeline.stage': 'pipelines:read',
  'tunnel.status': 'tunnel:read',
};

export const createSocketService = (
  { identify, tickets }: Accounts,
  { chat, useRefusal }: Agents,
  { grants }: Permissions,
): SocketService => {
  const refuseUse = useRefusal(grants);
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
        if (!who)
          throw Boom.unauthorized(
            'The token of this connection is no longer valid. Log in again or use another token',
          );
        return who;
      };
      const refusal = async () => approvalRefusal(await identity());
      const check = async (agent: AgentRow) => refuseUse(await identity(), agent);
      const by = { userId, address, requestId: 'ws', refusal };
      try {
        return await chat(userId, { ...message, by, check });
      } catch (error) {
        if (error instanceof SessionNotFound) throw Boom.notFound(error.message);
        if (error instanceof SessionBusy || error instanceof ApprovalNotPending) {
          throw Boom.conflict(error.message);
        }
        if (error instanceof DecisionRefused) {
          const statusCode = error.isConflict ? 409 : 403;
          throw new Boom.Boom(error.message, { statusCode });
        }
        throw error;
      }
    },
  };
};
