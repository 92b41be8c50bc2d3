import type Database from 'better-sqlite3';
import { orgOf } from '../../kernel/ids.js';
import type { AgentRow } from '../../store/tables/agents.js';
import type { DayCaps } from './spending.js';

/** A planned call of a model. */
export interface CallRequest {
  id: string;
  /** The agent, or the operation if no agent makes the call. */
  agentId: string;
  /** If false, only the daily limits of the user are charged. */
  isOfAgent: boolean;
  userId: string;
  hookId: string | null;
  /** The day in UTC, such as 2026-03-01. */
  day: string;
  /** ISO 8601. */
  at: string;
  model: string;
  /** USD per million tokens. Null if the model is free. */
  price: { inputPerMTok: number; outputPerMTok: number } | null;
  /** Estimated prompt tokens, and maximum output tokens. */
  inputTokens: number;
  outputTokens: number;
  fewestTokens: number;
  /** Whether the call starts a step, which is counted. */
  isStep: boolean;
  /** Whether a shorter output is acceptable while other calls run. */
  takesLess: boolean;
  /** Default daily cost limit of a user, in USD. */
  dailyCostUsd: number;
}

/** `above`: a parent agent. */
export type LimitOwner = 'agent' | 'above' | 'user' | 'month' | 'member' | 'hook';

interface UsageAmount {
  tokens: number;
  usd: number;
}

export interface SpendingAccount {
  on: LimitOwner;
  used: UsageAmount & { steps: number };
  held: UsageAmount;
  mostSteps: number | null;
  mostTokens: number | null;
  mostUsd: number | null;
}

export type SpenderRow = Pick<
  AgentRow,
  | 'parent_id'
  | 'member_id'
  | 'status'
  | 'steps'
  | 'input_tokens'
  | 'output_tokens'
  | 'cost_usd'
  | 'limits'
>;

const NOTHING = { tokens: 0, usd: 0, steps: 0 };
const HELD = `SELECT coalesce(sum(input_tokens + output_tokens), 0) AS tokens,
    coalesce(sum(cost_usd), 0) AS usd FROM reservations`;
/** Reserved by an agent and all its sub-agents. */
const HELD_UNDER = `WITH RECURSIVE under (id) AS (SELECT @id
    UNION SELECT a.id FROM agents AS a JOIN under ON a.parent_id = under.id)
  ${HELD} WHERE user_id = @userId
    AND (agent_id IN (SELECT id FROM under) OR parent_id IN (SELECT id FROM under))`;

/** A call is charged to its agent, the parents, the day of the user, and the hook. */
export const accountReader = (db: Database.Database) => {
  const agentOf = db.prepare<[string], SpenderRow>(
    `SELECT parent_id, member_id, status, steps, input_tokens, output_tokens, cost_usd, limits
      FROM agents WHERE id = ?`,
  );
  const heldUnder = db.prepare<[{ id: string; userId: string }], UsageAmount>(HELD_UNDER);
  const ofUser = dayReader(db, { table: 'daily_usage', key: 'user_id', owners: 'users' });
  const ofHook = dayReader(db, { table: 'hook_usage', key: 'hook_id', owners: 'hooks' });
  const ofOrg = orgReader(db);

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
      // Steps of sub-agents are not counted here.
      mostSteps: isOwn ? maxSteps : null,
      mostTokens: maxTokens,
      mostUsd: maxCostUsd,
    };
  };

  const accounts = (call: CallRequest): SpendingAccount[] => {
    const found: SpendingAccount[] = [];
    let id: string | null = call.agentId;
    let memberId: string | null = null;
    while (id !== null) {
      const agent: SpenderRow | undefined = agentOf.get(id);
      if (agent) found.push(accountOf(id, agent, call));
      memberId = agent?.member_id ?? null;
      id = agent?.parent_id ?? null;
    }
    const { dailyCostUsd, userId, hookId } = call;
    found.push(ofUser('user', userId, { ...call, preset: { ...ANY, dailyCostUsd } }));
    found.push(...ofOrg(call, memberId));
    if (hookId !== null) found.push(ofHook('hook', hookId, { ...call, preset: ANY }));
    return found;
  };

  return { agentOf: (id: string) => agentOf.get(id), accounts };
};

const ANY: DayCaps = { dailyCostUsd: null, dailyTokens: null, dailySteps: null };

/** The limits of the row override the defaults. */
export const dayCaps = (preset: Partial<DayCaps>, limits: string | null | undefined): DayCaps => ({
  ...ANY,
  ...preset,
  ...(limits ? JSON.parse(limits) : {}),
});

interface DayTables {
  table: string;
  key: string;
  owners: string;
}

/** Read in the transaction of each call, so that a change takes effect immediately. */
const dayReader = (db: Database.Database, { table, key, owners }: DayTables) => {
  const usedOn = db.prepare<[string, string], typeof NOTHING>(
    `SELECT tokens, cost_usd AS usd, steps FROM ${table} WHERE ${key} = ? AND day = ?`,
  );
  const heldOn = db.prepare<[string, string], UsageAmount>(`${HELD} WHERE ${key} = ? AND day = ?`);
  const limitsOf = db.prepare<[string], { limits: string | null }>(
    `SELECT limits FROM ${owners} WHERE id = ?`,
  );
  return (
    on: 'user' | 'hook',
    owner: string,
    { day, preset }: { day: string; preset: DayCaps },
  ): SpendingAccount => {
    const caps = dayCaps(preset, limitsOf.get(owner)?.limits);
    const { dailySteps, dailyTokens, dailyCostUsd } = caps;
    return {
      on,
      used: usedOn.get(owner, day) ?? NOTHING,
      held: heldOn.get(owner, day) ?? NOTHING,
      mostSteps: dailySteps,
      mostTokens: dailyTokens,
      mostUsd: dailyCostUsd,
    };
  };
};

/** Limits that only organizations have: per month, and per member who started the agent. */
const orgReader = (db: Database.Database) => {
  const limitsOf = db.prepare<[string], { limits: string }>(
    'SELECT limits FROM users WHERE id = ?',
  );
  const ofMonth = db
    .prepare<[string, string], number>(
      `SELECT coalesce(sum(cost_usd), 0) FROM daily_usage
        WHERE user_id = ? AND day >= substr(?, 1, 7) || '-01'`,
    )
    .pluck();
  const heldOfMonth = db.prepare<[string], UsageAmount>(`${HELD} WHERE user_id = ?`);
  const ofMember = db
    .prepare<[string, string, string], number>(
      `SELECT coalesce(sum(cost_usd), 0) FROM agents
        WHERE member_id = ? AND created_at >= ? AND user_id = ? AND parent_id IS NULL`,
    )
    .pluck();
  const heldOfMember = db.prepare<[string, string], UsageAmount>(
    `${HELD} WHERE user_id = ? AND agent_id IN (SELECT id FROM agents WHERE member_id = ?)`,
  );
  const costAccount = (
    on: LimitOwner,
    { mostUsd, usd, held }: { mostUsd: number; usd: number; held: UsageAmount | undefined },
  ): SpendingAccount => ({
    on,
    used: { ...NOTHING, usd },
    held: held ?? NOTHING,
    mostSteps: null,
    mostTokens: null,
    mostUsd,
  });
  return ({ userId, day }: CallRequest, memberId: string | null): SpendingAccount[] => {
    if (orgOf(userId) === null) return [];
    const { monthlyCostUsd: month = null, memberDailyCostUsd: member = null } = JSON.parse(
      limitsOf.get(userId)?.limits ?? '{}',
    );
    const found: SpendingAccount[] = [];
    if (month !== null) {
      const usd = ofMonth.get(userId, day) ?? 0;
      found.push(costAccount('month', { mostUsd: month, usd, held: heldOfMonth.get(userId) }));
    }
    if (member !== null && memberId !== null) {
      const usd = ofMember.get(memberId, day, userId) ?? 0;
      const held = heldOfMember.get(userId, memberId);
      found.push(costAccount('member', { mostUsd: member, usd, held }));
    }
    return found;
  };
};

export const limitOfKind = (
  { mostSteps, mostTokens, mostUsd }: SpendingAccount,
  of: 'steps' | 'tokens' | 'cost',
): number => ({ steps: mostSteps, tokens: mostTokens, cost: mostUsd })[of] ?? 0;

/** Tolerance for sums of dollar fractions, which differ after the ninth digit. */
const TINY_USD = 1e-9;

/** Returns the limit that is reached however the running calls end, or null. */
export const capReached = (
  call: CallRequest,
  { used, mostSteps, ...most }: SpendingAccount,
): 'steps' | 'tokens' | 'cost' | null => {
  if (call.isStep && mostSteps !== null && used.steps >= mostSteps) return 'steps';
  if (byTokens(call, used, most.mostTokens) < call.fewestTokens) return 'tokens';
  return byCost(call, used, most.mostUsd) < call.fewestTokens ? 'cost' : null;
};

export const outputTokensLeft = (
  call: CallRequest,
  used: UsageAmount,
  most: SpendingAccount,
): number => Math.min(byTokens(call, used, most.mostTokens), byCost(call, used, most.mostUsd));

export const withReservations = ({ used, held }: SpendingAccount): UsageAmount => ({
  tokens: used.tokens + held.tokens,
  usd: used.usd + held.usd,
});

const byTokens = (call: CallRequest, used: UsageAmount, most: number | null): number =>
  most === null ? Number.POSITIVE_INFINITY : most - used.tokens - call.inputTokens;

/** Calls that cost nothing are not checked against the limit. */
const byCost = (
  { price, inputTokens }: CallRequest,
  used: UsageAmount,
  most: number | null,
): number => {
  if (most === null || !price || price.inputPerMTok + price.outputPerMTok === 0) {
    return Number.POSITIVE_INFINITY;
  }
  const left = most - used.usd - callCost(price, inputTokens, 0);
  if (left < -TINY_USD) return -1;
  if (price.outputPerMTok === 0) return Number.POSITIVE_INFINITY;
  return Math.floor(((left + TINY_USD) * 1_000_000) / price.outputPerMTok);
};

export const callCost = (
  price: NonNullable<CallRequest['price']>,
  inputTokens: number,
  outputTokens: number,
): number => (inputTokens * price.inputPerMTok + outputTokens * price.outputPerMTok) / 1_000_000;
