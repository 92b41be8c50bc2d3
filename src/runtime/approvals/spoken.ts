import { type Clock, iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import type { Step } from '../../store/protocol.js';
import type { AgentRow } from '../../store/tables/agents.js';
import { NotOpen } from './approval.js';
import type { Decide } from './deciding.js';
import type { ApprovalRows } from './rows.js';

/** As many digits of a digest as a person types. */
export const SHORT_DIGEST = 8;

const ANSWER = /^(approve|deny)\s+(\S+)$/i;

/** `approve DIGEST`, `deny DIGEST`; null where the text is something else. */
export const answerIn = (text: string): { digest: string; approved: boolean } | null => {
  const [, word, digest] = ANSWER.exec(text.trim()) ?? [];
  if (word === undefined || digest === undefined) return null;
  return { digest: digest.toLowerCase(), approved: word.toLowerCase() === 'approve' };
};

/** The words are an answer, but nothing with that digest waits for the agent. */
export class NothingWaits extends Error {
  override name = 'NothingWaits';
  override message = 'Nothing with that digest waits for you';
}

/** Who says something to an agent, and from where. */
export interface AgentSpeaker {
  userId: string;
  address: string;
  requestId: string;
  /** Throws where an approval may not be answered so: with a token without that right, say. */
  mayAnswer(): void | Promise<void>;
}

/**
 * Words to an agent that answer one of its approvals are that answer, and no message. False where they
 * are anything else. Errors: NothingWaits, NotOpen, what `mayAnswer` throws.
 */
export type SpokenAnswer = (agent: AgentRow, text: string, by: AgentSpeaker) => Promise<boolean>;

export const createSpokenAnswer =
  (deps: { rows: ApprovalRows; decide: Decide; clock: Clock }): SpokenAnswer =>
  async (agent, text, by) => {
    const answer = answerIn(text);
    const pending = answer ? await deps.rows.pendingOf(agent.id) : [];
    if (!answer || pending.length === 0) return false;
    const { digest, approved } = answer;
    const meant = pending.filter((row) => row.digest.startsWith(digest));
    const [only] = meant;
    if (!only || meant.length > 1 || digest.length < SHORT_DIGEST) throw new NothingWaits();
    await by.mayAnswer();
    const step = auditOf(deps.clock, by, { target: only.id, approved, digest: only.digest });
    await deps.decide(by.userId, only.id, { approved, digest: only.digest, step });
    return true;
  };

const auditOf = (
  clock: Clock,
  { userId, address, requestId }: AgentSpeaker,
  { target, ...data }: { target: string; approved: boolean; digest: string },
): Step => {
  const now = clock.now();
  return {
    audit: {
      ...{ id: mint('audit', now), at: iso(now), actorId: userId, impersonatorId: null },
      ...{ action: 'approvals.approve', target, outcome: 'ok', ip: address, requestId, data },
    },
  };
};

/** As errors of a message: both are 409. */
export const isUnanswerable = (error: unknown): error is NothingWaits | NotOpen =>
  error instanceof NothingWaits || error instanceof NotOpen;
