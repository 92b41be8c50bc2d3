import { iso } from '../../kernel/clock.js';
import { stringifyExact } from '../../kernel/exactjson.js';
import { beginningOf } from '../../kernel/excerpt.js';
import type { PipelineStageRow } from '../../store/tables/pipelines.js';
import { MAX_WAIT } from '../templates/contract.js';
import type { RunStage } from './run.js';

/** The error of a stage that cannot begin. */
export class StageFault extends Error {
  override name = 'StageFault';
}

/** Tokens and US dollars that were used up. */
export interface RunUsage {
  tokens: number;
  costUsd: number;
}

/** The outcome of one attempt of a stage. */
export type AttemptOutcome =
  | {
      status: 'completed';
      output: unknown;
      reason?: null;
      untrusted?: boolean;
      usage?: RunUsage;
    }
  | {
      status: 'failed';
      error: string;
      /** The answer of a call that failed. */
      output?: unknown;
      /** Set if a call may have been done, so that its owner is asked before it is made again. */
      isInDoubt?: true;
      isFinal?: boolean;
      untrusted?: boolean;
      usage?: RunUsage;
    };

/** The columns of a stage that are empty once an attempt is over. */
export const OVER = {
  digest: null,
  due: null,
  due_at: null,
  reserved_tokens: 0,
  reserved_usd: 0,
  rests: 0,
};

/** Returns the change of a stage that has completed. */
export const completedChange = (
  { output, reason, untrusted }: Extract<AttemptOutcome, { status: 'completed' }>,
  now: number,
): Partial<PipelineStageRow> => ({
  ...OVER,
  ...(reason === null && { reason }),
  status: 'completed',
  effect: 'none',
  output: stringifyExact(output ?? null) ?? null,
  error: null,
  ...(untrusted && { untrusted: 1 }),
  finished_at: iso(now),
});

/** The longest error and reason of a stage, in characters. */
const MAX_ERROR_LENGTH = 9900;
const MAX_REASON_LENGTH = 2000;

/** Cuts a reason to the length that is shown. */
export const shortReason = (reason: string): string => beginningOf(reason, MAX_REASON_LENGTH);

/** Returns the change of a stage of which an attempt has failed: its end, or its next attempt. */
export const failedChange = (
  { stage, row }: RunStage,
  outcome: Extract<AttemptOutcome, { status: 'failed' }>,
  now: number,
): Partial<PipelineStageRow> => {
  const { isFinal = false, untrusted } = outcome;
  const error = beginningOf(outcome.error, MAX_ERROR_LENGTH);
  const { attempts = 1, backoffSeconds = 5, factor = 2 } = stage.retry ?? {};
  if (isFinal || row.attempt >= attempts) {
    const taint = untrusted ? { untrusted: 1 } : {};
    // Whether a call was done stays unknown where a person has only refused to make it again.
    const effect = row.status === 'waiting_approval' ? row.effect : 'none';
    const output = outcome.output === undefined ? null : (stringifyExact(outcome.output) ?? null);
    const ended = { status: 'failed', effect, error, output, finished_at: iso(now) } as const;
    return { ...OVER, ...taint, ...ended };
  }
  const seconds = Math.min(MAX_WAIT, backoffSeconds * factor ** (row.attempt - 1));
  const at = iso(now + seconds * 1000);
  const reason = shortReason(`Attempt ${row.attempt} failed: ${error}`);
  const again = {
    status: 'running',
    attempt: row.attempt + 1,
    agent_id: null,
    effect: 'none',
  } as const;
  return { ...OVER, ...again, reason, error, due: 'retry', due_at: at };
};
