import type { Statement } from './protocol.js';

/** What one step may come to, and the caps that it must stay within. Costs in USD. */
export interface StepReservation {
  agentId: string;
  userId: string;
  day: string;
  tokens: number;
  costUsd: number;
  maxSteps: number;
  maxTokens: number;
  maxCostUsd: number;
  dailyCostUsd: number;
}

/**
 * Counts a step and what it is expected to cost before it is asked for; Unmet at 0 where the agent
 * does not run or a cap of its own is reached, at 1 where the user's day is. Steps of many agents
 * that begin together cannot pass a cap that has room for one. What costs nothing is not held
 * against costs. The first statement returns the number of the step.
 */
export const reserveStep = (step: StepReservation): Statement[] => [
  {
    sql: `UPDATE agents SET steps = steps + 1, input_tokens = input_tokens + @tokens,
        cost_usd = cost_usd + @costUsd
      WHERE id = @agentId AND status = 'running' AND steps < @maxSteps
        AND input_tokens + output_tokens < @maxTokens
        AND (@costUsd = 0 OR cost_usd + @costUsd <= @maxCostUsd)
      RETURNING steps`,
    parameters: [step],
    expect: 1,
  },
  {
    sql: `INSERT INTO daily_usage (user_id, day, cost_usd, tokens)
      SELECT @userId, @day, @costUsd, @tokens WHERE @costUsd = 0 OR @costUsd <= @dailyCostUsd
      ON CONFLICT DO UPDATE
        SET cost_usd = cost_usd + excluded.cost_usd, tokens = tokens + excluded.tokens
        WHERE excluded.cost_usd = 0 OR cost_usd + excluded.cost_usd <= @dailyCostUsd`,
    parameters: [step],
    expect: 1,
  },
];

/** What a step came to beyond what was reserved; less is negative. */
export interface StepSettlement {
  agentId: string;
  userId: string;
  /** Of the reservation. */
  day: string;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
}

/** Puts what a step really cost in the place of what was reserved, whatever became of its agent. */
export const settleStep = (step: StepSettlement): Statement[] => [
  {
    sql: `UPDATE agents SET input_tokens = max(0, input_tokens + @inputTokens),
        output_tokens = output_tokens + @outputTokens,
        cost_usd = max(0, round(cost_usd + @costUsd, 9))
      WHERE id = @agentId`,
    parameters: [step],
  },
  {
    sql: `UPDATE daily_usage SET tokens = max(0, tokens + @inputTokens + @outputTokens),
        cost_usd = max(0, round(cost_usd + @costUsd, 9))
      WHERE user_id = @userId AND day = @day`,
    parameters: [step],
  },
];
