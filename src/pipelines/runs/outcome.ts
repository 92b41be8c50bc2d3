import { iso } from '../../kernel/clock.js';
import { stringifyExact } from '../../kernel/exactjson.js';
import { truncateText } from '../../kernel/excerpt.js';
import type { PipelineStageRow } from '../../store/tables/pipelines.js';
import { MAX_WAIT_SECONDS } from '../templates/contract.js';
import type { RunStage } from './run.js';

export class StageError extends Error {
  override name = 'StageError';
}

export interface RunUsage {
  tokens: number;
  costUsd: number;
}

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
      /** Reply of a failed call. */
      output?: unknown;
      /** Set if the call may have taken effect. The owner is then asked before it is repeated. */
      isInDoubt?: true;
      isFinal?: boolean;
      untrusted?: boolean;
      usage?: RunUsage;
    };

export const ATTEMPT_RESET = {
  digest: null,
  due: null,
  due_at: null,
  reserved_tokens: 0,
  reserved_usd: 0,
  rests: 0,
};

export const completedChange = (
  { output, reason, untrusted }: Extract<AttemptOutcome, { status: 'completed' }>,
  now: number,
): Partial<PipelineStageRow> => ({
  ...ATTEMPT_RESET,
  ...(reason === null && { reason }),
  status: 'completed',
  effect: 'none',
  output: stringifyExact(output ?? null) ?? null,
  error: null,
  ...(untrusted && { untrusted: 1 }),
  finished_at: iso(now),
});

const MAX_ERROR_LENGTH = 9900;
const MAX_REASON_LENGTH = 2000;

export const truncateReason = (reason: string): string => truncateText(reason, MAX_REASON_LENGTH);

export const failedChange = (
  { stage, row }: RunStage,
  outcome: Extract<AttemptOutcome, { status: 'failed' }>,
  now: number,
): Partial<PipelineStageRow> => {
  const { isFinal = false, untrusted } = outcome;
  const error = truncateText(outcome.error, MAX_ERROR_LENGTH);
  const { attempts = 1, backoffSeconds = 5, factor = 2 } = stage.retry ?? {};
  if (isFinal || row.attempt >= attempts) {
    const taint = untrusted ? { untrusted: 1 } : {};
    // If a person refuses to repeat a call, it stays unknown whether it took effect.
    const effect = row.status === 'waiting_approval' ? row.effect : 'none';
    const output = outcome.output === undefined ? null : (stringifyExact(outcome.output) ?? null);
    const ended = { status: 'failed', effect, error, output, finished_at: iso(now) } as const;
    return { ...ATTEMPT_RESET, ...taint, ...ended };
  }
  const seconds = Math.min(MAX_WAIT_SECONDS, backoffSeconds * factor ** (row.attempt - 1));
  const at = iso(now + seconds * 1000);
  const reason = truncateReason(`Attempt ${row.attempt} failed: ${error}`);
  const nextAttempt = {
    status: 'running',
    attempt: row.attempt + 1,
    agent_id: null,
    effect: 'none',
  } as const;
  return { ...ATTEMPT_RESET, ...nextAttempt, reason, error, due: 'retry', due_at: at };
};
