import { createHash } from 'node:crypto';
import { iso } from '../../kernel/clock.js';
import { parseMoment } from '../../kernel/contract/moment.js';
import { pageLink } from '../../kernel/pagepath.js';
import type { Outbound } from '../../outbound/module.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { PipelineStageRow } from '../../store/tables/pipelines.js';
import { MAX_WAIT_SECONDS } from '../templates/contract.js';
import type { StageKind } from '../templates/stagekinds.js';
import { StageError, truncateReason } from './outcome.js';
import { renderConfig, renderProse, stageValues } from './render.js';
import type { RunStage } from './run.js';

export interface StageBeginning {
  change: Partial<PipelineStageRow>;
  steps?: TransactionStep[];
  /** Called after the transaction. */
  begun?(): void;
  /** True if a tool call follows, as described in `input`. */
  calls?: true;
}

export interface OwnerAskDeps {
  outbound: Outbound;
  now(): number;
}

export interface BeginDeps extends OwnerAskDeps {
  spawn: BeginStage;
  call: BeginStage;
  nested: BeginStage;
  foreach: BeginStage;
}

export type BeginStage = (of: RunStage, scope: object) => Promise<StageBeginning>;

/** Default time for an answer: 7 days. */
const ANSWER_SECONDS = 7 * 86_400;

/** Throws StageError if the stage cannot start. */
export const beginStage = (deps: BeginDeps, of: RunStage): Promise<StageBeginning> => {
  const scope = stageValues(of.run, of.stage);
  return BEGINNINGS[of.stage.kind](deps, of, scope);
};

type Begin = (deps: BeginDeps, of: RunStage, scope: object) => Promise<StageBeginning>;

const asks =
  (status: 'waiting_approval' | 'waiting_input'): Begin =>
  async (deps, of, scope) => {
    const { message, ...fields } = of.stage.config;
    const input = { message: renderProse(message, scope), ...fields };
    return askOwner(deps, of, { status, input, headline: input.message });
  };

export const askOwner = (
  { outbound, now }: OwnerAskDeps,
  { run, stage, row }: RunStage,
  question: { status: 'waiting_approval' | 'waiting_input'; input: unknown; headline: string },
): StageBeginning => {
  const { status, input, headline } = question;
  // The timeout of a call applies to the call, not to its approval.
  const isQuestion = stage.kind === 'approval' || stage.kind === 'input';
  const seconds = (isQuestion ? stage.timeoutSeconds : undefined) ?? ANSWER_SECONDS;
  const at = iso(now() + seconds * 1000);
  // Includes the time, so that an answer to an earlier, identical question is rejected.
  const digest = computeQuestionDigest({
    at,
    headline,
    run: run.row.id,
    key: row.key,
    visits: row.visits,
    attempt: row.attempt,
    input,
  });
  const notice = outbound.outbox.toOwner(run.row.user_id, {
    kind: 'pipeline_waiting',
    title: `${run.row.name}: ${stage.name ?? stage.key} waits for you`,
    body: headline,
    link: `${pageLink('run', run.row.id)}#${row.key}`,
    about: run.row.name,
  });
  return {
    change: { status, digest, input: JSON.stringify(input), due: 'expiry', due_at: at },
    steps: notice.statements,
    begun: notice.published,
  };
};

/** Asks the owner whether to repeat a call that may have taken effect. */
export const askToRepeat = (deps: OwnerAskDeps, of: RunStage, why: string): StageBeginning => {
  const headline = `${why}. The call may already have taken effect. Approve to repeat the call.`;
  const input: unknown = JSON.parse(of.row.input ?? 'null');
  const waiting = askOwner(deps, of, { status: 'waiting_approval', input, headline });
  return { ...waiting, change: { ...waiting.change, reason: truncateReason(headline) } };
};

const computeQuestionDigest = (question: object): string =>
  createHash('sha256').update(JSON.stringify(question)).digest('hex');

const wait: Begin = async ({ now }, { stage }, scope) => {
  const { seconds, until } = stage.config;
  const at =
    until === undefined
      ? now() + Number(seconds) * 1000
      : parseMoment(`${renderConfig(until, scope)}`);
  if (!Number.isFinite(at))
    throw new StageError(
      `until of the wait stage must be a time such as 2026-01-31T09:30:00Z, not ${renderConfig(until, scope)}`,
    );
  if (at > now() + MAX_WAIT_SECONDS * 1000)
    throw new StageError(
      'until of the wait stage must be at most 90 days in the future. Set an earlier time',
    );
  const dueAt = iso(Math.max(now(), at));
  return {
    change: {
      status: 'running',
      input: JSON.stringify({ until: dueAt }),
      due: 'wait',
      due_at: dueAt,
    },
  };
};

export const BUDGET_WAIT_REASON = 'Waiting for budget that other stages of the run have reserved';
const BUDGET_MS = 5000;

export const waitForBudget = (now: number): StageBeginning => ({
  change: {
    status: 'running',
    reason: BUDGET_WAIT_REASON,
    due: 'retry',
    due_at: iso(now + BUDGET_MS),
  },
});

const BEGINNINGS: Record<StageKind, Begin> = {
  approval: asks('waiting_approval'),
  input: asks('waiting_input'),
  wait,
  agent: ({ spawn }, of, scope) => spawn(of, scope),
  tool: ({ call }, of, scope) => call(of, scope),
  http: ({ call }, of, scope) => call(of, scope),
  research: ({ call }, of, scope) => call(of, scope),
  pipeline: ({ nested }, of, scope) => nested(of, scope),
  foreach: (deps, of, scope) => deps.foreach(of, scope),
};
