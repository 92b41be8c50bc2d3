import type { Statement } from './protocol.js';
import type { ModelCallRow } from './tables/models.js';

/** Who makes a step: the agent, those above it, its user and its hook are all charged. */
export interface Spender {
  agentId: string;
  /** How many agents are above it. */
  depth: number;
  userId: string;
  hookId: string | null;
  /** As 2026-03-01, in UTC. */
  day: string;
}

/** What may be used up in a day; null: any amount. Costs in USD. */
export interface DayCaps {
  dailyCostUsd: number | null;
  dailyTokens: number | null;
  dailySteps: number | null;
}

/** What one step may come to, and the caps that it must stay within. Those above have their own. */
export interface StepReservation extends Spender {
  tokens: number;
  costUsd: number;
  maxSteps: number;
  maxTokens: number;
  maxCostUsd: number;
  ofUser: DayCaps;
  ofHook: DayCaps;
}

/** A statement that is not met where the cap of this one is reached. */
export interface Charge extends Statement {
  on: 'agent' | 'above' | 'user' | 'hook';
}

/**
 * Counts a step and what it is expected to cost before it is asked for; Unmet at a charge whose cap is
 * reached, at the first also where the agent does not run. Steps of many agents that begin together
 * cannot pass a cap that has room for one. What costs nothing is not held against costs. The first
 * statement returns the number of the step.
 */
export const reserveStep = (step: StepReservation): Charge[] => [
  {
    on: 'agent',
    sql: `UPDATE agents SET steps = steps + 1, input_tokens = input_tokens + @tokens,
        cost_usd = cost_usd + @costUsd
      WHERE id = @agentId AND status = 'running' AND steps < @maxSteps
        AND input_tokens + output_tokens < @maxTokens
        AND (@costUsd = 0 OR round(cost_usd + @costUsd, 9) <= @maxCostUsd)
      RETURNING steps`,
    parameters: [step],
    expect: 1,
  },
  ...above(step, {
    sql: `${ABOVE} UPDATE agents SET input_tokens = input_tokens + @tokens,
        cost_usd = cost_usd + @costUsd
      WHERE id IN (SELECT id FROM above) AND input_tokens + output_tokens < limits ->> 'maxTokens'
        AND (@costUsd = 0 OR round(cost_usd + @costUsd, 9) <= limits ->> 'maxCostUsd')`,
    parameters: [step],
    expect: step.depth,
  }),
  ...days(step).map(({ on, table, key, owner }) => ({
    on,
    sql: `INSERT INTO ${table} (${key}, day, cost_usd, tokens, steps)
      SELECT @owner, @day, @costUsd, @tokens, 1
        WHERE (@costUsd = 0 OR @dailyCostUsd IS NULL OR @costUsd <= @dailyCostUsd)
          AND (@dailyTokens IS NULL OR @tokens <= @dailyTokens)
          AND (@dailySteps IS NULL OR 1 <= @dailySteps)
      ON CONFLICT DO UPDATE SET cost_usd = cost_usd + excluded.cost_usd,
          tokens = tokens + excluded.tokens, steps = steps + 1
        WHERE (@costUsd = 0 OR @dailyCostUsd IS NULL
            OR round(cost_usd + @costUsd, 9) <= @dailyCostUsd)
          AND (@dailyTokens IS NULL OR tokens + @tokens <= @dailyTokens)
          AND (@dailySteps IS NULL OR steps < @dailySteps)`,
    parameters: [{ ...step, ...capsOf(step, on), owner }],
    expect: 1,
  })),
];

/**
 * Sets aside more for a step that is reserved already, because a dearer model is to answer; Unmet
 * where a cap is reached or the agent does not run any more.
 */
export const reserveMore = (step: StepReservation): Statement[] => [
  {
    sql: `UPDATE agents SET cost_usd = cost_usd + @costUsd
      WHERE id = @agentId AND status = 'running'
        AND round(cost_usd + @costUsd, 9) <= @maxCostUsd`,
    parameters: [step],
    expect: 1,
  },
  ...above(step, {
    sql: `${ABOVE} UPDATE agents SET cost_usd = cost_usd + @costUsd
      WHERE id IN (SELECT id FROM above)
        AND round(cost_usd + @costUsd, 9) <= limits ->> 'maxCostUsd'`,
    parameters: [step],
    expect: step.depth,
  }),
  ...days(step).map(({ on, table, key, owner }) => ({
    sql: `UPDATE ${table} SET cost_usd = cost_usd + @costUsd
      WHERE ${key} = @owner AND day = @day
        AND (@dailyCostUsd IS NULL OR round(cost_usd + @costUsd, 9) <= @dailyCostUsd)`,
    parameters: [{ ...step, ...capsOf(step, on), owner }],
    expect: 1,
  })),
];

/** What a step came to beyond what was reserved; less is negative. */
export interface StepSettlement extends Spender {
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
}

/** Puts what a step really cost in the place of what was reserved, whatever became of its agent. */
export const settleStep = (step: StepSettlement): Statement[] => [
  {
    sql: `${ABOVE} UPDATE agents SET input_tokens = max(0, input_tokens + @inputTokens),
        output_tokens = output_tokens + @outputTokens,
        cost_usd = max(0, round(cost_usd + @costUsd, 9))
      WHERE id = @agentId OR id IN (SELECT id FROM above)`,
    parameters: [step],
  },
  ...days(step).map(({ table, key, owner }) => ({
    sql: `UPDATE ${table} SET tokens = max(0, tokens + @inputTokens + @outputTokens),
        cost_usd = max(0, round(cost_usd + @costUsd, 9))
      WHERE ${key} = @owner AND day = @day`,
    parameters: [{ ...step, owner }],
  })),
];

/** The agents above one; the last row is null. */
const ABOVE = `WITH RECURSIVE above (id) AS (
    SELECT parent_id FROM agents WHERE id = @agentId
    UNION ALL SELECT a.parent_id FROM agents AS a JOIN above ON a.id = above.id)`;

const above = ({ depth }: Spender, charge: Statement): Charge[] =>
  depth === 0 ? [] : [{ on: 'above', ...charge }];

/** The accounts of a day that a step is charged to. */
const days = ({ userId, hookId }: Spender) => {
  const ofUser = { on: 'user' as const, table: 'daily_usage', key: 'user_id', owner: userId };
  const ofHook = { on: 'hook' as const, table: 'hook_usage', key: 'hook_id', owner: hookId };
  return hookId === null ? [ofUser] : [ofUser, ofHook];
};

const capsOf = ({ ofUser, ofHook }: StepReservation, on: 'user' | 'hook'): DayCaps =>
  on === 'user' ? ofUser : ofHook;

/** One answer of a model, for the account of what models cost; nothing where the user is gone. */
export const recordCall = (call: ModelCallRow): Statement => ({
  sql: `INSERT INTO model_calls
      (id, user_id, agent_id, hook_id, model, input_tokens, output_tokens, cost_usd, latency_ms, at)
    SELECT @id, id, @agent_id, @hook_id, @model, @input_tokens, @output_tokens, @cost_usd,
      @latency_ms, @at FROM users WHERE id = @user_id`,
  parameters: [call],
});
