import Boom from '@hapi/boom';
import { grantedTools } from '../approvals/module.js';
import { type Clock, iso } from '../kernel/clock.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import type { GrantRule } from '../permissions/module.js';
import type { Store } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import { agentTrust } from './taint.js';

/**
 * An impersonating admin must not use tools that the person granted, and a member not those that an
 * owner or admin granted. Throws a 403 that names them.
 */
export const createGrantedUseCheck =
  ({ store, clock }: { store: Store; clock: Clock }) =>
  (grants: Pick<GrantRule, 'refuseUse'>) =>
  async (
    by: Pick<Caller, 'userId' | 'impersonator' | 'member'>,
    agent: AgentRow,
  ): Promise<void> => {
    const isMember = by.member?.role === 'member';
    if (!by.impersonator && !isMember) return;
    // A message would deny the approval.
    if (isMember && agent.status === 'waiting_approval') throw awaitsApproval();
    const { user_id: userId, hook_id: hookId, session_id: sessionId } = agent;
    const tools = await grantedTools(store, { userId, hookId, sessionId }, iso(clock.now()));
    grants.refuseUse(by, [...agentTrust(agent).granted, ...tools]);
  };

const awaitsApproval = (): Boom.Boom =>
  Boom.forbidden(
    'The agent is waiting for an approval. Ask an owner or admin of the organization to decide first',
    { code: 'org_role' },
  );

export type CheckGrantedUse = ReturnType<ReturnType<typeof createGrantedUseCheck>>;
