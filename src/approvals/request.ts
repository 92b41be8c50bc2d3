import { iso, toTheMinute } from '../kernel/clock.js';
import type { Approval } from '../kernel/contract/approval.js';
import { mint } from '../kernel/ids.js';
import { canonical } from '../kernel/jsonvalue.js';
import { pageLink } from '../kernel/pagepath.js';
import type { Notice, Outbound, OutgoingEvent, QueuedMessage } from '../outbound/module.js';
import { statement } from '../store/store.js';
import type { ApprovalRow, GrantScope } from '../store/tables/permissions.js';
import { callDigest, type ExactCall, viewApproval } from './approval.js';
import type { WithdrawingDeps } from './withdraw.js';

export interface AskingDeps extends WithdrawingDeps {
  outbound: Outbound;
}

/** A call, with the facts that its owner needs to decide on it. */
export interface ApprovalRequest extends ExactCall {
  userId: string;
  callId: string | null;
  /** The name of the agent or caller that asks. */
  asker: string;
  reason: string;
  isUntrusted: boolean;
  /** The scopes that an approval may have beside `once`. */
  grantScopes: GrantScope[];
  /** The fingerprint of the tool's definition, if a server offers it. */
  definitionDigest?: string | undefined;
  /** The time within which a decision must come, in milliseconds. */
  ttlMs: number;
  /** The number of times that the cause of this call came back to this daemon. */
  hops?: number;
}

export const CONVERSATION_MS = 15 * 60 * 1000;
/** Longer than in a conversation, because no user waits at an agent that a hook started. */
export const HOOK_MS = 24 * 3600 * 1000;
/**
 * The maximum length of arguments, in characters. Ours: a person does not read longer ones to the
 * end, and must not approve what was not read.
 */
export const MAX_ARGUMENTS_LENGTH = 262_144;

/**
 * Builds the approvals, in the order of the requests, the one notification to their owner, and the
 * webhook events. They are committed in one transaction and sent once it is durable. All requests
 * are from one asker.
 */
export const requestApprovals = (
  deps: AskingDeps,
  questions: ApprovalRequest[],
): QueuedMessage & { approvals: Approval[] } => {
  const rows = questions.map((question) => rowOf(question, deps.clock.now()));
  const approvals = rows.map(viewApproval);
  const [first] = questions;
  if (!first) return { approvals, statements: [], published: () => undefined };
  const { userId, asker, hops } = first;
  const notices = [
    deps.outbound.outbox.toOwner(userId, { ...messageOf(first, approvals), hops }),
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

const rowOf = (question: ApprovalRequest, now: number): ApprovalRow => ({
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
});

const messageOf = ({ asker, agentId }: ApprovalRequest, approvals: Approval[]): Notice => {
  const [first, ...more] = approvals;
  const { id = '', untrusted } = first ?? {};
  const what = more.length > 0 ? `${approvals.length} calls` : `${first?.tool}.${first?.action}`;
  const bodies = approvals.map((approval) =>
    more.length > 0 ? `${approval.tool}.${approval.action}\n${bodyOf(approval)}` : bodyOf(approval),
  );
  return {
    kind: 'approval_requested',
    title: `${asker} (${untrusted ? 'untrusted' : 'trusted'}) asks: ${what}`,
    body: bodies.join('\n\n'),
    link:
      more.length > 0 ? `${pageLink('approvals')}?agentId=${agentId}` : pageLink('approval', id),
    effectId: id,
  };
};

const bodyOf = ({ arguments: args, digest, reason, expiresAt }: Approval): string =>
  [
    canonical(args),
    `Because: ${reason}. Nothing has run; without an answer it is denied at ${toTheMinute(expiresAt)}.`,
    `adjutant approvals approve ${digest.slice(0, 8)}    or: adjutant approvals deny ${digest.slice(0, 8)}`,
  ].join('\n');

/**
 * Returns the event for a call that waits for its owner's approval. The arguments may be anything,
 * so they are not in the event but at the link.
 */
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
