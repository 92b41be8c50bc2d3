import {
  type Decide,
  NoApproval,
  NotOpen,
  OtherDigest,
  ScopeNotOffered,
  SHORT_DIGEST,
  TooManyGrants,
  UNCLEAR,
} from '../approvals/module.js';
import { type Clock, iso } from '../kernel/clock.js';
import type { AuditRecord } from '../kernel/contract/audit.js';
import { mint } from '../kernel/ids.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { Store } from '../store/store.js';
import type { ApprovalRow, ApprovalScope } from '../store/tables/permissions.js';
import { visibleTo } from '../store/visible.js';
import type { LinkedChannel } from './links.js';

export interface DecisionsDeps {
  store: Store;
  clock: Clock;
  decide: Decide;
}

/** The origin of a request. */
export interface DecisionOrigin {
  address: string;
  requestId: string;
}

/**
 * A decision as it was received. A button names the approval; typed text gives the beginning of its
 * digest.
 */
export interface OwnerDecision {
  approvalId?: string;
  digest: string;
  approved: boolean;
  scope?: ApprovalScope;
  isUnclear?: true;
}

/**
 * The text of the reply. `isOver` is true if the approval is decided, by this decision or another.
 */
export interface DecisionReply {
  text: string;
  isOver: boolean;
}

type PendingApproval = Pick<ApprovalRow, 'id' | 'tool' | 'action' | 'digest'>;

/**
 * Applies a decision of a channel's owner on a call. It is valid for the exact call that was shown:
 * the given part of the digest must match. The first decision counts, wherever it comes from.
 */
export const decideFrom = async (
  deps: DecisionsDeps,
  channel: LinkedChannel,
  verdict: OwnerDecision,
  origin: DecisionOrigin,
): Promise<DecisionReply> => {
  const found = await findMeant(deps.store, channel.userId, verdict);
  const [meant] = found;
  if (!meant) return { text: 'Nothing with that digest waits for you.', isOver: false };
  if (found.length > 1) {
    return { text: 'Several calls have that digest: type more of it.', isOver: false };
  }
  if (verdict.isUnclear) return notDecided(UNCLEAR);
  const called = `${meant.tool}.${meant.action} ${meant.digest.slice(0, SHORT_DIGEST)}`;
  if (!isPartOf(verdict.digest, meant.digest)) {
    return { text: `${new OtherDigest().message}. Nothing was decided.`, isOver: false };
  }
  const { approved, scope = 'once' } = verdict;
  const said = scope === 'once' ? {} : { scope };
  const { digest } = meant;
  const step = auditFrom(deps.clock, origin, {
    actorId: channel.userId,
    action: 'approvals.approve',
    target: meant.id,
    data: { approved, digest, ...said, channel: channel.kind, channelId: channel.id },
  });
  try {
    await deps.decide(channel.userId, meant.id, { approved, digest, ...said, step });
    return { text: `${approved ? APPROVED[scope] : 'Denied'}: ${called}`, isOver: true };
  } catch (error) {
    if (error instanceof NotOpen) return { text: `${error.message}: ${called}`, isOver: true };
    if (error instanceof ScopeNotOffered) return notDecided(`The scope ${error.message}`);
    if (error instanceof TooManyGrants) return notDecided(error.message);
    if (!(error instanceof NoApproval || error instanceof OtherDigest)) throw error;
    return { text: error.message, isOver: false };
  }
};

const APPROVED: Record<ApprovalScope, string> = {
  once: 'Approved',
  conversation: 'Approved for this conversation',
  host: 'Approved for this host',
};

const notDecided = (why: string): DecisionReply => ({
  text: `${why}. Nothing was decided.`,
  isOver: false,
});

const HEX = /^[0-9a-f]+$/;
const isPartOf = (given: string, digest: string): boolean =>
  given.length >= SHORT_DIGEST && digest.startsWith(given.toLowerCase());

/**
 * Finds the approvals that are meant, pending ones first. It returns at most two, since more than
 * one is ambiguous.
 */
const findMeant = async (
  { db }: Store,
  userId: string,
  { approvalId, digest }: OwnerDecision,
): Promise<PendingApproval[]> => {
  const own = db
    .selectFrom('approvals')
    .select(['id', 'tool', 'action', 'digest'])
    .where(visibleTo(userId));
  if (approvalId !== undefined) return own.where('id', '=', approvalId).execute();
  const given = digest.toLowerCase();
  if (!HEX.test(given) || given.length < SHORT_DIGEST) return [];
  const meant = own.where('digest', 'like', `${given}%`);
  const pending = await meant.where('status', '=', 'pending').limit(2).execute();
  return pending.length > 0 ? pending : meant.orderBy('id', 'desc').limit(1).execute();
};

/** Builds the row of the audit log for what the owner of a channel did there. */
export const auditFrom = (
  clock: Clock,
  { address: ip, requestId }: DecisionOrigin,
  act: Pick<AuditRecord, 'actorId' | 'action' | 'target' | 'data'>,
): TransactionStep => {
  const now = clock.now();
  const id = mint('audit', now);
  return {
    audit: { id, at: iso(now), impersonatorId: null, outcome: 'ok', ip, requestId, ...act },
  };
};
