import type { Statement } from '../../store/engine/protocol.js';

/** Null means no limit. Costs are in USD. */
export interface DayCaps {
  dailyCostUsd: number | null;
  dailyTokens: number | null;
  dailySteps: number | null;
}

export interface CallSettlement {
  id: string;
  inputTokens: number;
  outputTokens: number;
  /** USD. Null if the model has no price. */
  costUsd: number | null;
  latencyMs: number;
  at: string;
}

/** The agent of a reservation and all its parents. */
const CHARGED = `WITH RECURSIVE charged (id) AS (
    SELECT agent_id FROM reservations WHERE id = @id
    UNION SELECT parent_id FROM reservations WHERE id = @id
    UNION SELECT a.parent_id FROM agents AS a JOIN charged ON a.id = charged.id)`;

const addToDay = (table: string, key: string): string =>
  `INSERT INTO ${table} (${key}, day, cost_usd, tokens, steps)
    SELECT ${key}, day, coalesce(@costUsd, 0), @inputTokens + @outputTokens, 0
      FROM reservations WHERE id = @id AND ${key} IS NOT NULL
    ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens,
      cost_usd = round(cost_usd + excluded.cost_usd, 9)`;

const SETTLE = [
  `${CHARGED} UPDATE agents SET input_tokens = input_tokens + @inputTokens,
      output_tokens = output_tokens + @outputTokens,
      cost_usd = round(cost_usd + coalesce(@costUsd, 0), 9)
    WHERE id IN (SELECT id FROM charged)`,
  addToDay('daily_usage', 'user_id'),
  addToDay('hook_usage', 'hook_id'),
  `INSERT INTO model_calls
      (id, user_id, agent_id, hook_id, model, input_tokens, output_tokens, cost_usd, latency_ms, at)
    SELECT id, user_id, agent_id, hook_id, model, @inputTokens, @outputTokens, @costUsd,
      @latencyMs, @at FROM reservations WHERE id = @id`,
  'DELETE FROM reservations WHERE id = @id',
];

/** Does nothing if the reservation is already settled. */
export const settleCall = (call: CallSettlement): Statement[] =>
  SETTLE.map((sql) => ({ sql, parameters: [call] }));

export const releaseCall = (id: string): Statement => ({
  sql: 'DELETE FROM reservations WHERE id = @id',
  parameters: [{ id }],
});
