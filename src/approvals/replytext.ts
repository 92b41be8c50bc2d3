import { type Clock, iso } from '../kernel/clock.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import { mint } from '../kernel/ids.js';
import { type ScopeRefusal, scopeRefusal } from '../kernel/scope.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { GrantScope } from '../store/tables/permissions.js';
import { ScopeNotOffered, TooManyGrants } from './approval.js';
import type { Decide } from './decide.js';
import type { ApprovalRows } from './rows.js';

/** The number of digits of a digest that a person has to type. */
export const SHORT_DIGEST = 8;

const DECISION = /^(approve|deny)\s+(\S+?)(?:\s+(once|conversation|host))?$/i;
/** A decision with further words behind the digest. */
const WORDY = /^(approve|deny)\s+([0-9a-f]{8,64})\s+([\s\S]+)$/i;

/** A decision that was typed. */
export interface TypedDecision {
  digest: string;
  approved: boolean;
  /** The scope in which an approval is to stand; once if absent. */
  scope?: GrantScope;
  /** True if what follows the digest is no scope, so that nothing is approved. */
  isUnclear?: true;
  /** The reason of a denial, in the words of the person. */
  reason?: string;
}

/** The reply to an approval with further words that are no scope. */
export const UNCLEAR = 'After the digest there may be conversation or host, and nothing else';

/**
 * Parses `approve DIGEST`, `approve DIGEST conversation`, `approve DIGEST host` and `deny DIGEST`,
 * which may have a reason behind it; returns null for any other text.
 */
export const decisionIn = (text: string): TypedDecision | null => {
  const given = text.trim().toLowerCase();
  const [, word, digest, scope] = DECISION.exec(given) ?? [];
  if (word === undefined || digest === undefined) return wordyDecision(text.trim());
  const isLasting = scope === 'conversation' || scope === 'host';
  return { digest, approved: word === 'approve', ...(isLasting && { scope }) };
};

const wordyDecision = (text: string): TypedDecision | null => {
  const [, word, given, reason] = WORDY.exec(text) ?? [];
  if (word === undefined || given === undefined || reason === undefined) return null;
  const digest = given.toLowerCase();
  return word.toLowerCase() === 'deny'
    ? { digest, approved: false, reason }
    : { digest, approved: true, isUnclear: true };
};

/** Thrown if a message is a decision but was not accepted. The code names the reason. */
export class DecisionRefused extends Error {
  override name = 'DecisionRefused';

  constructor(
    readonly code: ScopeRefusal['code'] | 'nothing_waits' | 'scope_not_offered',

    message: string,
  ) {
    super(message);
  }

  /** True if the sender may decide, but not on this. */
  get isConflict(): boolean {
    return this.code === 'nothing_waits' || this.code === 'scope_not_offered';
  }
}

/** A user who writes to an agent, and where the message came from. */
export interface AgentSpeaker extends Pick<Caller, 'userId' | 'address' | 'requestId'> {
  /**
   * Returns why this sender may not decide on approvals, for example because the token lacks the
   * scope; null if the sender may.
   */
  refusal(): ScopeRefusal | null | Promise<ScopeRefusal | null>;
}

const APPROVE = { method: 'POST', path: '/api/chat/approve' } as const;

/** Returns why a caller may not decide on approvals by message; null if the caller may. */
export const approvalRefusal = (
  by: Pick<Caller, 'scopes' | 'tokenId' | 'impersonator'>,
): ScopeRefusal | null => scopeRefusal(by, APPROVE);

/** Returns the caller of an endpoint as a sender of messages to agents. */
export const messageSender = (by: Caller): AgentSpeaker => ({
  userId: by.userId,
  address: by.address,
  requestId: by.requestId,
  refusal: () => approvalRefusal(by),
});

/**
 * Creates the function that handles a message to an agent that decides on one of its approvals: it
 * counts as the decision and not as a message. Returns false if the text is anything else. Errors:
 * DecisionRefused, NotOpen.
 */
export const createSpokenDecision =
  (deps: { rows: ApprovalRows; decide: Decide; clock: Clock }) =>
  async (agent: AgentRow, text: string, by: AgentSpeaker): Promise<boolean> => {
    const decision = decisionIn(text);
    const pending = decision ? await deps.rows.pendingOf(agent.id) : [];
    if (!decision || pending.length === 0) return false;
    const { digest, approved, scope, isUnclear } = decision;
    const meant = pending.filter((row) => row.digest.startsWith(digest));
    const [only] = meant;
    if (!only || meant.length > 1 || digest.length < SHORT_DIGEST) {
      throw new DecisionRefused('nothing_waits', 'Nothing with that digest waits for you');
    }
    if (isUnclear) throw notOffered(UNCLEAR);
    const refusal = await by.refusal();
    if (refusal) throw new DecisionRefused(refusal.code, refusal.message);
    const given = { approved, digest: only.digest, ...(scope && { scope }) };
    const step = auditOf(deps.clock, by, { target: only.id, ...given });
    await deps.decide(by.userId, only.id, { ...given, step }).catch((error: unknown) => {
      if (error instanceof ScopeNotOffered) throw notOffered(`The scope ${error.message}`);
      if (error instanceof TooManyGrants) throw notOffered(error.message);
      throw error;
    });
    return true;
  };

const notOffered = (message: string) => new DecisionRefused('scope_not_offered', message);

const auditOf = (
  clock: Clock,
  { userId, address, requestId }: AgentSpeaker,
  { target, ...data }: TypedDecision & { target: string },
): TransactionStep => {
  const now = clock.now();
  return {
    audit: {
      id: mint('audit', now),
      at: iso(now),
      actorId: userId,
      impersonatorId: null,
      action: 'approvals.approve',
      target,
      outcome: 'ok',
      ip: address,
      requestId,
      data,
    },
  };
};
