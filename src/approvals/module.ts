import type { Base } from '../base.js';
import type { Outbound } from '../outbound/module.js';
import type { PermissionsOf } from '../permissions/module.js';
import type { Hub } from '../realtime/module.js';
import { createDecide, createExpiry, type DecisionDeps } from './decide.js';
import { createAdmit } from './directcall.js';
import { createGrants } from './grants/queries.js';
import { grantsResource } from './grants/routes.js';
import { createMessageDecision } from './replytext.js';
import { approvalsResource } from './routes.js';
import { approvalRows } from './rows.js';

export type { Approval } from '../kernel/contract/approval.js';
export {
  ApprovalNotFound,
  ApprovalNotPending,
  callDigest,
  DigestMismatch,
  type ExactCall,
  ScopeNotOffered,
  TooManyGrants,
} from './approval.js';
export type { CommitDecision, Decide } from './decide.js';
export type { DirectCall } from './directcall.js';
export { type Grants, grantedTools, voidHookGrants } from './grants/queries.js';
export { listGrantScopes } from './grants/rules.js';
export {
  type AgentMessageSender,
  approvalRefusal,
  DecisionRefused,
  messageSender,
  parseDecision,
  SHORT_DIGEST_LENGTH,
  UNCLEAR_SCOPE,
} from './replytext.js';
export {
  type ApprovalRequest,
  CONVERSATION_MS,
  HOOK_MS,
  MAX_ARGUMENTS_LENGTH,
  requestApprovals,
} from './request.js';
export { approvalRows } from './rows.js';
export {
  onlyPending,
  spendApprovals,
  voidApproved,
  WITHDRAWAL_REASONS,
  withdraw,
} from './withdraw.js';

export interface ApprovalsDeps {
  hub: Hub;
  outbound: Outbound;
  permissionsOf: PermissionsOf;
}

export const openApprovals = (base: Base, deps: ApprovalsDeps) => {
  const { store, clock, log } = base;
  const { hub, outbound, permissionsOf } = deps;
  const approvals = approvalRows(store);
  const grants = createGrants({ store, clock });
  let find: DecisionDeps['waitingAgent'] = async () => null;
  const waitingAgent = (id: string) => find(id);
  const deciding = { store, clock, log, hub, approvals, grants, waitingAgent };
  const decide = createDecide(deciding);
  return {
    rows: approvals,
    decide,
    grants,
    /** For direct calls of the owner, which have no agent. */
    admit: createAdmit({ store, clock, hub, outbound, approvals, permissionsOf }),
    expiry: createExpiry(deciding),
    /** Handles messages to an agent that decide on an approval. */
    spoken: createMessageDecision({ rows: approvals, decide, clock }),
    /** Registers the function that finds the agent of a pending call. */
    findAgents: (waiting: DecisionDeps['waitingAgent']): void => {
      find = waiting;
    },
    resources: () => [approvalsResource({ rows: approvals, decide }), grantsResource(grants)],
  };
};

export type Approvals = ReturnType<typeof openApprovals>;
