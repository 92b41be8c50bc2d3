import {
  ApprovalNotFound,
  ApprovalNotPending,
  type Decide,
  DigestMismatch,
  ScopeNotOffered,
  SHORT_DIGEST_LENGTH,
  TooManyGrants,
  UNCLEAR_SCOPE,
} from '../approvals/module.js';
import type { Clock } from '../kernel/clock.js';
import type { StageQuestions } from '../pipelines/module.js';
import type { Store } from '../store/store.js';
import type { ApprovalRow, ApprovalScope } from '../store/tables/permissions.js';
import { decidableBy } from '../store/visible.js';
import {
  AMBIGUOUS,
  auditFrom,
  type DecisionOrigin,
  type DecisionReply,
  notDecided,
  type OwnerDecision,
  UNKNOWN,
} from './decision.js';
import type { LinkedChannel } from './links.js';
import { decideStage, findStages } from './stagedecision.js';

export interface DecisionsDeps {
  store: Store;
  clock: Clock;
  decide: Decide;
  stages: StageQuestions;
}

type PendingApproval = Pick<
  ApprovalRow,
  'id' | 'user_id' | 'tool' | 'action' | 'digest' | 'status'
>;

/**
 * Valid only for what was shown: the digest prefix must match. The first decision counts, from any
 * source.
 */
export const decideFrom = async (
  deps: DecisionsDeps,
  channel: LinkedChannel,
  decision: OwnerDecision,
  origin: DecisionOrigin,
): Promise<DecisionReply> => {
  const stages = await findStages(deps.stages, channel.userId, decision);
  const found = await findApprovals(deps.store, channel.userId, decision);
  // Only a pending call can conflict with a waiting stage.
  const calls = found.filter(({ status }) => stages.length === 0 || status === 'pending');
  if (stages.length + calls.length > 1) return AMBIGUOUS;
  const [[stage], [call]] = [stages, calls];
  if (stage) return decideStage(deps, channel, { stage, decision, origin });
  if (call) return decideCall(deps, channel, { call, decision, origin });
  return decision.approvalId?.startsWith('pipeline_') ? ANSWERED : UNKNOWN;
};

const decideCall = async (
  deps: DecisionsDeps,
  channel: LinkedChannel,
  input: { call: PendingApproval; decision: OwnerDecision; origin: DecisionOrigin },
): Promise<DecisionReply> => {
  const { call, decision, origin } = input;
  if (decision.isUnclear) return notDecided(UNCLEAR_SCOPE);
  const called = `${call.tool}.${call.action} ${call.digest.slice(0, SHORT_DIGEST_LENGTH)}`;
  if (!isPartOf(decision.digest, call.digest)) {
    return { text: `${new DigestMismatch().message}. Nothing was decided.`, isOver: false };
  }
  const { approved, scope = 'once', reason } = decision;
  const because = reason === undefined ? {} : { reason: reason.slice(0, MAX_REASON_LENGTH) };
  const content = { ...because, ...(scope !== 'once' && { scope }) };
  const { digest, user_id: ownerId } = call;
  const step = auditFrom(deps.clock, origin, {
    actorId: channel.userId,
    action: 'approvals.approve',
    target: call.id,
    data: { approved, digest, ...content, channel: channel.kind, channelId: channel.id },
    ownerId,
  });
  try {
    const answer = { approved, digest, ...content, by: channel.userId, step };
    await deps.decide(ownerId, call.id, answer);
    return { text: `${approved ? APPROVED[scope] : 'Denied'}: ${called}`, isOver: true };
  } catch (error) {
    if (error instanceof ApprovalNotPending)
      return { text: `${error.message}: ${called}`, isOver: true };
    if (error instanceof ScopeNotOffered) return notDecided(`The scope ${error.message}`);
    if (error instanceof TooManyGrants) return notDecided(error.message);
    if (!(error instanceof ApprovalNotFound || error instanceof DigestMismatch)) throw error;
    return { text: error.message, isOver: false };
  }
};

const ANSWERED = { text: 'The request was already answered or has changed.', isOver: true };

const APPROVED: Record<ApprovalScope, string> = {
  once: 'Approved',
  conversation: 'Approved for this conversation',
  host: 'Approved for this host',
};

/** As in the API. */
const MAX_REASON_LENGTH = 1000;
const HEX = /^[0-9a-f]+$/;
const isPartOf = (input: string, digest: string): boolean =>
  input.length >= SHORT_DIGEST_LENGTH && digest.startsWith(input.toLowerCase());

/** Pending approvals first. At most two, since more than one is ambiguous. */
const findApprovals = async (
  { db }: Store,
  userId: string,
  { approvalId, digest }: OwnerDecision,
): Promise<PendingApproval[]> => {
  const own = db
    .selectFrom('approvals')
    .select(['id', 'user_id', 'tool', 'action', 'digest', 'status'])
    .where(decidableBy(userId));
  if (approvalId !== undefined) return own.where('id', '=', approvalId).execute();
  const input = digest.toLowerCase();
  if (!HEX.test(input) || input.length < SHORT_DIGEST_LENGTH) return [];
  const match = own.where('digest', 'like', `${input}%`);
  const pending = await match.where('status', '=', 'pending').limit(2).execute();
  return pending.length > 0 ? pending : match.orderBy('id', 'desc').limit(1).execute();
};
