import { iso, toTheMinute } from '../kernel/clock.js';
import type { Approval } from '../kernel/contract/approval.js';
import { mint } from '../kernel/ids.js';
import { canonical } from '../kernel/jsonvalue.js';
import { pageLink } from '../kernel/pagepath.js';
import type { Notice, Outbound, OutgoingEvent, QueuedMessage } from '../outbound/module.js';
import { statement } from '../store/store.js';
import type { ApprovalRow, GrantScope } from '../store/tables/permissions.js';
import { callDigest, type ExactCall, viewApproval } from './approval.js';
import type { WithdrawalDeps } from './withdraw.js';

export interface ApprovalRequestDeps extends WithdrawalDeps {
  outbound: Outbound;
}

export interface ApprovalRequest extends ExactCall {
  userId: string;
  callId: string | null;
  /** Name of the agent or caller that asks. */
  asker: string;
  reason: string;
  isUntrusted: boolean;
  /** Scopes that are offered beside `once`. */
  grantScopes: GrantScope[];
  /** Digest of the tool's definition, if an MCP server offers the tool. */
  definitionDigest?: string | undefined;
  /** Time within which a decision must be made, in milliseconds. */
  ttlMs: number;
  /** How often the cause of this call has come back to this daemon. */
  hops?: number;
}

export const CONVERSATION_MS = 15 * 60 * 1000;
/** Longer than in a conversation, since no user waits for an agent that a hook started. */
export const HOOK_MS = 24 * 3600 * 1000;
/** In characters. A person does not read longer arguments to the end, and must not approve them. */
export const MAX_ARGUMENTS_LENGTH = 262_144;

/**
 * Builds the approvals, one notification to their owner, and the webhook events, which are committed
 * together. All requests must have the same asker.
 */
export const requestApprovals = (
  deps: ApprovalRequestDeps,
  questions: ApprovalRequest[],
): QueuedMessage & { approvals: Approval[] } => {
  const rows = questions.map((question) => buildApprovalRow(question, deps.clock.now()));
  const approvals = rows.map(viewApproval);
  const [first] = questions;
  if (!first) return { approvals, statements: [], published: () => undefined };
  const { userId, asker, hops } = first;
  const notices = [
    deps.outbound.outbox.toOwner(userId, { ...buildApprovalNotice(first, approvals), hops }),
    ...approvals.map((approval) =>
      deps.outbound.toWebhooks(userId, { ...approvalRequested(approval, asker), hops }),
    ),
  ];
  return {
    approvals,
    statements: [
      ...rows.map((row) => statement(deps.store.db.insertInto('approvals').values(row), 1)),
      ...notices.flatMap(({ statements }) => statements),
    ],
    published: () => {
      for (const { published } of notices) published();
      for (const approval of approvals) deps.hub.publish(userId, 'approval', approval);
    },
  };
};

const buildApprovalRow = (question: ApprovalRequest, now: number): ApprovalRow => ({
  id: mint('approval', now),
  user_id: question.userId,
  agent_id: question.agentId,
  call_id: question.callId,
  tool: question.tool,
  action: question.action,
  arguments: canonical(question.arguments),
  digest: callDigest(question),
  reason: question.reason,
  untrusted: question.isUntrusted ? 1 : 0,
  status: 'pending',
  created_at: iso(now),
  expires_at: iso(now + question.ttlMs),
  decided_at: null,
  decided_by: null,
  decision_reason: null,
  used_at: null,
  scopes: JSON.stringify(['once', ...question.grantScopes]),
  tool_digest: question.definitionDigest ?? null,
  details: JSON.stringify(question.details ?? []),
});

const buildApprovalNotice = (
  { asker, agentId }: ApprovalRequest,
  approvals: Approval[],
): Notice => {
  const [first, ...more] = approvals;
  const { id = '', untrusted } = first ?? {};
  const what = more.length > 0 ? `${approvals.length} calls` : `${first?.tool}.${first?.action}`;
  const bodies = approvals.map((approval) =>
    more.length > 0
      ? `${approval.tool}.${approval.action}\n${formatApprovalBody(approval)}`
      : formatApprovalBody(approval),
  );
  return {
    kind: 'approval_requested',
    title: `${asker} (${untrusted ? 'untrusted' : 'trusted'}) requests approval: ${what}`,
    body: bodies.join('\n\n'),
    link:
      more.length > 0 ? `${pageLink('approvals')}?agentId=${agentId}` : pageLink('approval', id),
    effectId: id,
  };
};

const formatApprovalBody = ({
  arguments: args,
  details,
  digest,
  reason,
  expiresAt,
}: Approval): string =>
  [
    ...details.map(({ name, value }) => `${name}: ${JSON.stringify(value)}`),
    canonical(args),
    `Reason: ${reason}. The call has not run. Without an answer it is denied at ${toTheMinute(expiresAt)}.`,
    `adjutant approvals approve ${digest.slice(0, 8)}    or: adjutant approvals deny ${digest.slice(0, 8)}`,
  ].join('\n');

/** The arguments may contain anything, so they are only at the link. */
const approvalRequested = (approval: Approval, asker: string): OutgoingEvent => ({
  type: 'approval.requested',
  data: {
    approvalId: approval.id,
    agentId: approval.agentId,
    asker,
    tool: approval.tool,
    action: approval.action,
    digest: approval.digest,
    untrusted: approval.untrusted,
    expiresAt: approval.expiresAt,
    links: { approval: `/api/chat/approvals/${approval.id}` },
  },
  effectId: approval.id,
});
