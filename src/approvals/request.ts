import { canonical } from '../kernel/canonicaljson.js';
import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import type { ToWebhooks } from '../outbound/eventfanout.js';
import type { Notice, Outbox, Posting } from '../outbound/outbox.js';
import type { Hub } from '../realtime/hub.js';
import type { Statement } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { ApprovalRow } from '../store/tables/permissions.js';
import { type Approval, viewApproval } from './approval.js';
import { callDigest, type ExactCall } from './digest.js';
import { approvalRequested } from './requestevent.js';

export interface AskingDeps {
  store: Store;
  clock: Clock;
  hub: Hub;
  outbox: Outbox;
  toWebhooks: ToWebhooks;
}

/** A call, with the facts that its owner needs to decide on it. */
export interface ApprovalRequest extends ExactCall {
  userId: string;
  callId: string | null;
  /** The name of the agent or caller that asks. */
  asker: string;
  reason: string;
  isUntrusted: boolean;
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
export const LONGEST_ARGUMENTS = 262_144;

/** The approvals to write in the caller's transaction, and what to do after its commit. */
export interface ApprovalPosting extends Posting {
  /** In the order of the requests. */
  approvals: Approval[];
}

/**
 * Builds the approvals, the one notification to their owner, and the webhook events. They are
 * committed in one transaction and sent once it is durable. All requests are from one asker.
 */
export const requestApprovals = (
  deps: AskingDeps,
  questions: ApprovalRequest[],
): ApprovalPosting => {
  const rows = questions.map((question) => rowOf(question, deps.clock.now()));
  const approvals = rows.map(viewApproval);
  const [first] = questions;
  if (!first) return { approvals, statements: [], published: () => undefined };
  const { userId, asker, hops } = first;
  const told = [
    deps.outbox.toOwner(userId, { ...messageOf(first, approvals), hops }),
    ...approvals.map((approval) =>
      deps.toWebhooks(userId, { ...approvalRequested(approval, asker), hops }),
    ),
  ];
  return {
    approvals,
    statements: [
      ...rows.map((row) => insert(deps.store, row)),
      ...told.flatMap(({ statements }) => statements),
    ],
    published: () => {
      for (const { published } of told) published();
      for (const approval of approvals) deps.hub.publish(userId, 'approval', approval);
    },
  };
};

const insert = ({ db }: Store, row: ApprovalRow): Statement =>
  statement(db.insertInto('approvals').values(row), 1);

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
    link: more.length > 0 ? linkToAll(agentId ?? '') : `/api/chat/approvals/${id}`,
    effectId: id,
  };
};

const bodyOf = ({ arguments: args, digest, reason, expiresAt }: Approval): string =>
  [
    canonical(args),
    `Because: ${reason}. Nothing has run; without an answer it is denied at ${expiresAt}.`,
    `adjutant approvals approve ${digest.slice(0, 8)}    or: adjutant approvals deny ${digest.slice(0, 8)}`,
  ].join('\n');

/** Returns the link to all pending approvals of an agent. */
const linkToAll = (agentId: string): string =>
  `/api/chat/approvals?status=pending&agentId=${agentId}`;
