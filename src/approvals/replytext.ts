import { type Clock, iso } from '../kernel/clock.js';
import { asPerson, type Caller } from '../kernel/contract/endpoint.js';
import { mint } from '../kernel/ids.js';
import { type ScopeRefusal, scopeRefusal } from '../kernel/scope.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { GrantScope } from '../store/tables/permissions.js';
import { ScopeNotOffered, TooManyGrants } from './approval.js';
import type { Decide } from './decide.js';
import type { ApprovalRows } from './rows.js';

/** The number of hex digits of a digest that a person must type. */
export const SHORT_DIGEST_LENGTH = 8;

const DECISION = /^(approve|deny)\s+(\S+?)(?:\s+(once|conversation|host))?$/i;
const WORDY = /^(approve|deny)\s+([0-9a-f]{8,64})\s+([\s\S]+)$/i;

export interface TypedDecision {
  digest: string;
  approved: boolean;
  /** Scope of a standing approval; absent for `once`. */
  scope?: GrantScope;
  /** True if the text after the digest is not a scope. Nothing is approved then. */
  isUnclear?: true;
  reason?: string;
}

/** The reply to an approval with more text that is not a scope. */
export const UNCLEAR_SCOPE = 'After the digest, only conversation or host is allowed';

/** Parses `approve DIGEST [once|conversation|host]` and `deny DIGEST [reason]`; null for other text. */
export const parseDecision = (text: string): TypedDecision | null => {
  const normalized = text.trim().toLowerCase();
  const [, word, digest, scope] = DECISION.exec(normalized) ?? [];
  if (word === undefined || digest === undefined) return wordyDecision(text.trim());
  const isLasting = scope === 'conversation' || scope === 'host';
  return { digest, approved: word === 'approve', ...(isLasting && { scope }) };
};

const wordyDecision = (text: string): TypedDecision | null => {
  const [, word, typed, reason] = WORDY.exec(text) ?? [];
  if (word === undefined || typed === undefined || reason === undefined) return null;
  const digest = typed.toLowerCase();
  return word.toLowerCase() === 'deny'
    ? { digest, approved: false, reason }
    : { digest, approved: true, isUnclear: true };
};

/** The message is a decision but was not accepted. `code` is the reason. */
export class DecisionRefused extends Error {
  override name = 'DecisionRefused';

  constructor(
    readonly code: ScopeRefusal['code'] | 'nothing_waits' | 'scope_not_offered',

    message: string,
  ) {
    super(message);
  }

  /** True if the sender may decide, but not on this call. */
  get isConflict(): boolean {
    return this.code === 'nothing_waits' || this.code === 'scope_not_offered';
  }
}

export interface AgentMessageSender
  extends Pick<Caller, 'userId' | 'address' | 'requestId' | 'member'> {
  /** Returns why the sender may not decide, such as a token without the scope; null if it may. */
  refusal(): ScopeRefusal | null | Promise<ScopeRefusal | null>;
}

const APPROVE = { method: 'POST', path: '/api/chat/approve' } as const;

/** Returns why a caller may not decide by message; null if it may. */
export const approvalRefusal = (
  by: Pick<Caller, 'scopes' | 'tokenId' | 'impersonator' | 'member'>,
): ScopeRefusal | null => scopeRefusal(by, APPROVE);

export const messageSender = (by: Caller): AgentMessageSender => ({
  userId: by.userId,
  address: by.address,
  requestId: by.requestId,
  ...(by.member && { member: by.member }),
  refusal: () => approvalRefusal(by),
});

/**
 * Handles a message that decides on an approval of the agent. Returns false for any other text. Throws
 * DecisionRefused or ApprovalNotPending.
 */
export const createMessageDecision =
  (deps: { rows: ApprovalRows; decide: Decide; clock: Clock }) =>
  async (agent: AgentRow, text: string, by: AgentMessageSender): Promise<boolean> => {
    const decision = parseDecision(text);
    const pending = decision ? await deps.rows.pendingOf(agent.id) : [];
    if (!decision || pending.length === 0) return false;
    const { digest, approved, scope, isUnclear } = decision;
    const meant = pending.filter((row) => row.digest.startsWith(digest));
    const [only] = meant;
    if (!only || meant.length > 1 || digest.length < SHORT_DIGEST_LENGTH) {
      throw new DecisionRefused(
        'nothing_waits',
        'No pending approval has that digest. Check the digest in the approval request',
      );
    }
    if (isUnclear) throw notOffered(UNCLEAR_SCOPE);
    const refusal = await by.refusal();
    if (refusal) throw new DecisionRefused(refusal.code, refusal.message);
    const answer = { approved, digest: only.digest, ...(scope && { scope }) };
    const { userId: person } = asPerson(by);
    const step = buildAuditStep(deps.clock, by, { target: only.id, ...answer });
    await deps
      .decide(by.userId, only.id, { ...answer, by: person, step })
      .catch((error: unknown) => {
        if (error instanceof ScopeNotOffered) throw notOffered(`The scope ${error.message}`);
        if (error instanceof TooManyGrants) throw notOffered(error.message);
        throw error;
      });
    return true;
  };

const notOffered = (message: string) => new DecisionRefused('scope_not_offered', message);

const buildAuditStep = (
  clock: Clock,
  { userId, member, address, requestId }: AgentMessageSender,
  { target, ...data }: TypedDecision & { target: string },
): TransactionStep => {
  const now = clock.now();
  return {
    audit: {
      id: mint('audit', now),
      at: iso(now),
      actorId: member?.userId ?? userId,
      impersonatorId: null,
      action: 'approvals.approve',
      target,
      outcome: 'ok',
      ip: address,
      requestId,
      data: { ...data, ...(member && { orgId: userId }) },
    },
  };
};
