import type Database from 'better-sqlite3';
import type { AgentRow } from '../../store/tables/agents.js';
import type { DayCaps } from './spending.js';

/** A call of a model that is to be asked for, and the caps that it must stay within. */
export interface CallRequest {
  id: string;
  agentId: string;
  userId: string;
  hookId: string | null;
  /** As 2026-03-01, in UTC. */
  day: string;
  /** ISO 8601. */
  at: string;
  model: string;
  /** USD per million tokens; null: it costs nothing. */
  price: { inputPerMTok: number; outputPerMTok: number } | null;
  /** Tokens that the question may come to, and at most the answer. */
  inputTokens: number;
  outputTokens: number;
  /** A shorter answer is not asked for. */
  fewestTokens: number;
  /** The first call of its step, which counts as one. */
  isStep: boolean;
  /** Takes a shorter answer than would be left if no other call were under way. */
  takesLess: boolean;
  ofUser: DayCaps;
  ofHook: DayCaps;
}

/** Whose cap it is; `above`: of an agent above the one that asks. */
export type Capped = 'agent' | 'above' | 'user' | 'hook';

interface Amount {
  tokens: number;
  usd: number;
}

/** What somebody has used up, what of it is held by calls under way, and the most that may be. */
export interface SpendingAccount {
  on: Capped;
  used: Amount & { steps: number };
  held: Amount;
  mostSteps: number | null;
  mostTokens: number | null;
  mostUsd: number | null;
}

export type SpenderRow = Pick<
  AgentRow,
  'parent_id' | 'status' | 'steps' | 'input_tokens' | 'output_tokens' | 'cost_usd' | 'limits'
>;

const NOTHING = { tokens: 0, usd: 0, steps: 0 };
const HELD = `SELECT coalesce(sum(input_tokens + output_tokens), 0) AS tokens,
    coalesce(sum(cost_usd), 0) AS usd FROM reservations`;
/** By an agent and all under it. */
const HELD_UNDER = `WITH RECURSIVE under (id) AS (SELECT @id
    UNION SELECT a.id FROM agents AS a JOIN under ON a.parent_id = under.id)
  ${HELD} WHERE user_id = @userId
    AND (agent_id IN (SELECT id FROM under) OR parent_id IN (SELECT id FROM under))`;

/** The accounts that a call is charged to: its agent's, those above, its user's day, its hook's. */
export const accountReader = (db: Database.Database) => {
  const agentOf = db.prepare<[string], SpenderRow>(
    `SELECT parent_id, status, steps, input_tokens, output_tokens, cost_usd, limits
      FROM agents WHERE id = ?`,
  );
  const heldUnder = db.prepare<[{ id: string; userId: string }], Amount>(HELD_UNDER);
  const ofUser = dayReader(db, 'daily_usage', 'user_id');
  const ofHook = dayReader(db, 'hook_usage', 'hook_id');

  const accountOf = (
    id: string,
    agent: SpenderRow,
    { agentId, userId }: CallRequest,
  ): SpendingAccount => {
    const isOwn = id === agentId;
    const { maxSteps, maxTokens, maxCostUsd } = JSON.parse(agent.limits);
    const { steps, input_tokens, output_tokens, cost_usd: usd } = agent;
    return {
      on: isOwn ? 'agent' : 'above',
      used: { steps, tokens: input_tokens + output_tokens, usd },
      held: heldUnder.get({ id, userId }) ?? NOTHING,
      // The steps of those under an agent are not its own.
      mostSteps: isOwn ? maxSteps : null,
      mostTokens: maxTokens,
      mostUsd: maxCostUsd,
    };
  };

  const accounts = (call: CallRequest): SpendingAccount[] => {
    const found: SpendingAccount[] = [];
    let id: string | null = call.agentId;
    while (id !== null) {
      const agent: SpenderRow | undefined = agentOf.get(id);
      if (agent) found.push(accountOf(id, agent, call));
      id = agent?.parent_id ?? null;
    }
    found.push(ofUser('user', call.userId, call));
    if (call.hookId !== null) found.push(ofHook('hook', call.hookId, call));
    return found;
  };

  return { agentOf: (id: string) => agentOf.get(id), accounts };
};

const dayReader = (db: Database.Database, table: string, key: string) => {
  const usedOn = db.prepare<[string, string], typeof NOTHING>(
    `SELECT tokens, cost_usd AS usd, steps FROM ${table} WHERE ${key} = ? AND day = ?`,
  );
  const heldOn = db.prepare<[string, string], Amount>(`${HELD} WHERE ${key} = ? AND day = ?`);
  return (on: 'user' | 'hook', owner: string, call: CallRequest): SpendingAccount => {
    const { dailySteps, dailyTokens, dailyCostUsd } = on === 'user' ? call.ofUser : call.ofHook;
    return {
      on,
      used: usedOn.get(owner, call.day) ?? NOTHING,
      held: heldOn.get(owner, call.day) ?? NOTHING,
      mostSteps: dailySteps,
      mostTokens: dailyTokens,
      mostUsd: dailyCostUsd,
    };
  };
};

/** Sums of fractions of a dollar differ behind the ninth digit. */
const TINY_USD = 1e-9;

/** What of the account is used up, however the calls under way end; null: there is room. */
export const capReached = (
  call: CallRequest,
  { used, mostSteps, ...most }: SpendingAccount,
): 'steps' | 'tokens' | 'cost' | null => {
  if (call.isStep && mostSteps !== null && used.steps >= mostSteps) return 'steps';
  if (byTokens(call, used, most.mostTokens) < call.fewestTokens) return 'tokens';
  return byCost(call, used, most.mostUsd) < call.fewestTokens ? 'cost' : null;
};

/** Tokens that the account leaves for the answer. */
export const roomFor = (call: CallRequest, used: Amount, most: SpendingAccount): number =>
  Math.min(byTokens(call, used, most.mostTokens), byCost(call, used, most.mostUsd));

export const withHeld = ({ used, held }: SpendingAccount): Amount => ({
  tokens: used.tokens + held.tokens,
  usd: used.usd + held.usd,
});

const byTokens = (call: CallRequest, used: Amount, most: number | null): number =>
  most === null ? Number.POSITIVE_INFINITY : most - used.tokens - call.inputTokens;

/** Ours: what costs nothing is not held against costs. */
const byCost = ({ price, inputTokens }: CallRequest, used: Amount, most: number | null): number => {
  if (most === null || !price || price.inputPerMTok + price.outputPerMTok === 0) {
    return Number.POSITIVE_INFINITY;
  }
  const left = most - used.usd - callCost(price, inputTokens, 0);
  if (left < -TINY_USD) return -1;
  if (price.outputPerMTok === 0) return Number.POSITIVE_INFINITY;
  return Math.floor(((left + TINY_USD) * 1_000_000) / price.outputPerMTok);
};

/** USD. */
export const callCost = (
  price: NonNullable<CallRequest['price']>,
  inputTokens: number,
  outputTokens: number,
): number => (inputTokens * price.inputPerMTok + outputTokens * price.outputPerMTok) / 1_000_000;
