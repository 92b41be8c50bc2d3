import Boom from '@hapi/boom';
import { SHORT_DIGEST_LENGTH, UNCLEAR_SCOPE } from '../approvals/module.js';
import type { Clock } from '../kernel/clock.js';
import { faultsMessage } from '../kernel/problem.js';
import type { StageQuestion, StageQuestions } from '../pipelines/module.js';
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
import { parseFieldValues, type StageAnswerText } from './stageanswer.js';

export interface StageDecisionDeps {
  stages: StageQuestions;
  clock: Clock;
}

/** As in the API. */
const MAX_REASON_LENGTH = 2000;

/** At most two, since more than one is ambiguous. */
export const findStages = async (
  stages: StageQuestions,
  userId: string,
  { approvalId, digest }: Pick<OwnerDecision, 'approvalId' | 'digest'>,
): Promise<StageQuestion[]> =>
  digest.length < SHORT_DIGEST_LENGTH
    ? []
    : stages.withDigest(userId, digest.toLowerCase(), approvalId);

export const decideStage = async (
  deps: StageDecisionDeps,
  channel: LinkedChannel,
  params: { stage: StageQuestion; decision: OwnerDecision; origin: DecisionOrigin },
): Promise<DecisionReply> => {
  const { stage, decision, origin } = params;
  const { approved, scope, isUnclear, reason } = decision;
  if (isUnclear) return notDecided(UNCLEAR_SCOPE);
  if (scope !== undefined && scope !== 'once')
    return notDecided('A stage can only be approved once');
  if (stage.asks === 'input') return notDecided(`The stage needs input. Reply: ${replyTo(stage)}`);
  const digest = stage.digest;
  const answer = approved
    ? { is: 'approved' as const, digest }
    : { is: 'rejected' as const, digest, reason: reason?.slice(0, MAX_REASON_LENGTH) };
  const action = approved ? 'pipelines.approve' : 'pipelines.reject';
  const step = buildAuditStep(deps, channel, { stage, origin, action });
  const word = approved ? 'Approved' : 'Denied';
  return settled(deps, channel, stage, { word, answer: { answer, steps: [step] } });
};

export const answerStageFrom = async (
  deps: StageDecisionDeps,
  channel: LinkedChannel,
  typed: StageAnswerText,
  origin: DecisionOrigin,
): Promise<DecisionReply> => {
  const [stage, other] = await findStages(deps.stages, channel.userId, typed);
  if (!stage) return UNKNOWN;
  if (other) return AMBIGUOUS;
  if (stage.asks === 'approval')
    return notDecided(`The stage needs a decision. Reply: ${replyTo(stage)}`);
  const { values, stray } = parseFieldValues(stage.fields, typed.rest);
  if (stray !== undefined) {
    const keys = stage.fields.map(({ key }) => key).join(', ');
    return notDecided(`"${stray.slice(0, 60)}" is not a field. Fields: ${keys}`);
  }
  const faults = deps.stages.faults(stage, values);
  if (faults.length > 0) return notDecided(faultsMessage(faults));
  const answer = { is: 'input' as const, digest: stage.digest, values };
  const step = buildAuditStep(deps, channel, { stage, origin, action: 'pipelines.input' });
  return settled(deps, channel, stage, { word: 'Answered', answer: { answer, steps: [step] } });
};

const replyTo = ({ asks, digest }: StageQuestion): string => {
  const short = digest.slice(0, SHORT_DIGEST_LENGTH);
  return asks === 'input' ? `answer ${short} <value>` : `approve ${short} or deny ${short}`;
};

const buildAuditStep = (
  { clock }: StageDecisionDeps,
  { id, kind, userId }: LinkedChannel,
  of: { stage: StageQuestion; origin: DecisionOrigin; action: string },
) => {
  const { runId: target, key, digest, ownerId } = of.stage;
  const data = { key, digest, channel: kind, channelId: id };
  return auditFrom(clock, of.origin, { actorId: userId, action: of.action, target, data, ownerId });
};

/**
 * Another answer may have come first, or the run has ended. If the stage still asks the same, the
 * answer can be repeated.
 */
const settled = async (
  { stages }: StageDecisionDeps,
  { userId }: LinkedChannel,
  stage: StageQuestion,
  input: { word: string; answer: Parameters<StageQuestions['answer']>[1] },
): Promise<DecisionReply> => {
  try {
    await stages.answer(stage, input.answer);
    return { text: `${input.word}: ${stage.key} of ${stage.run}`, isOver: true };
  } catch (error) {
    if (!Boom.isBoom(error)) throw error;
    const now = await stages.at(userId, stage);
    const isOver = now?.digest !== stage.digest;
    return { text: `${error.message}. Nothing was decided.`, isOver };
  }
};
