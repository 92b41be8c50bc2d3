import type Database from 'better-sqlite3';
import {
  accountReader,
  type CallRequest,
  callCost,
  capReached,
  type LimitOwner,
  limitOfKind,
  outputTokensLeft,
  withReservations,
} from './caps.js';
import { type CallSettlement, settleCall } from './spending.js';

/** Result of a reservation. */
export type CallGrant =
  | { is: 'granted'; outputTokens: number; step: number }
  /** Room is expected when running calls cost less than reserved. */
  | { is: 'held' }
  /** The limit `most` is reached. A cost is in USD. */
  | { is: 'full'; on: LimitOwner; of: 'steps' | 'tokens' | 'cost'; most: number }
  | { is: 'gone' };

/** Reserves the maximum cost of a call if every limit has room for it, and counts the step. */
export const reserveCall = (db: Database.Database) => {
  const { agentOf, accounts } = accountReader(db);
  const settleLeft = leftSettler(db);
  const countSteps = stepCounter(db);
  const insert = db.prepare(
    `INSERT INTO reservations (id, user_id, agent_id, parent_id, hook_id, day, model,
        input_tokens, output_tokens, cost_usd, created_at)
      VALUES (@id, @userId, @agentId, @parentId, @hookId, @day, @model,
        @inputTokens, @outputTokens, @costUsd, @at)`,
  );

  const grant = (call: CallRequest, outputTokens: number): CallGrant => {
    const { agentId, inputTokens, price } = call;
    const costUsd = price && callCost(price, inputTokens, outputTokens);
    const parentId = agentOf(agentId)?.parent_id ?? null;
    insert.run({ ...call, parentId, outputTokens, costUsd });
    if (call.isStep) countSteps(call);
    return { is: 'granted', outputTokens, step: agentOf(agentId)?.steps ?? 0 };
  };

  return (call: CallRequest): CallGrant => {
    settleLeft(call);
    const isGone = call.isOfAgent && agentOf(call.agentId)?.status !== 'running';
    if (isGone) return { is: 'gone' };
    const all = accounts(call);
    for (const account of all) {
      const of = capReached(call, account);
      if (of) return { is: 'full', on: account.on, of, most: limitOfKind(account, of) };
    }
    const most = all.map((account) => outputTokensLeft(call, account.used, account));
    const free = all.map((account) => outputTokensLeft(call, withReservations(account), account));
    const wanted = Math.min(call.outputTokens, ...most);
    const room = Math.min(call.outputTokens, ...free);
    const isEnough = room >= wanted || (call.takesLess && room >= call.fewestTokens);
    return isEnough ? grant(call, room) : { is: 'held' };
  };
};

/**
 * Settles reservations that a disk failure left behind. An agent makes one call at a time, so an
 * earlier reservation is such a one.
 */
const leftSettler = (db: Database.Database) => {
  const left = db.prepare<[string], Omit<CallSettlement, 'latencyMs' | 'at'>>(
    `SELECT id, input_tokens AS inputTokens, output_tokens AS outputTokens, cost_usd AS costUsd
      FROM reservations WHERE agent_id = ?`,
  );
  return ({ agentId, at }: CallRequest): void => {
    for (const row of left.all(agentId)) {
      for (const { sql, parameters } of settleCall({ ...row, latencyMs: 0, at })) {
        db.prepare(sql).run(...parameters);
      }
    }
  };
};

const stepCounter = (db: Database.Database) => {
  const ofAgent = db.prepare('UPDATE agents SET steps = steps + 1 WHERE id = ?');
  const ofDay = (table: string, key: string) =>
    db.prepare(
      `INSERT INTO ${table} (${key}, day, cost_usd, tokens, steps) VALUES (?, ?, 0, 0, 1)
        ON CONFLICT DO UPDATE SET steps = steps + 1`,
    );
  const ofUser = ofDay('daily_usage', 'user_id');
  const ofHook = ofDay('hook_usage', 'hook_id');
  return ({ agentId, userId, hookId, day }: CallRequest): void => {
    ofAgent.run(agentId);
    ofUser.run(userId, day);
    if (hookId !== null) ofHook.run(hookId, day);
  };
};
