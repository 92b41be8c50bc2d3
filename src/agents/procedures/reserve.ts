import type Database from 'better-sqlite3';
import type { ReservationRow } from '../../store/tables/models.js';
import {
  accountReader,
  type CallRequest,
  type Capped,
  callCost,
  capReached,
  roomFor,
  withHeld,
} from './caps.js';
import { settleCall } from './spending.js';

/** What came of the wish to call a model. */
export type CallGrant =
  | { is: 'granted'; outputTokens: number; step: number }
  /** There will be room once other calls that are under way have come to less than was set aside. */
  | { is: 'held' }
  | { is: 'full'; on: Capped; of: 'steps' | 'tokens' | 'cost' }
  /** The agent does not run any more. */
  | { is: 'gone' };

/**
 * Sets aside what a call may come to where every cap has room for it, and counts its step. Calls of
 * many agents that begin together cannot pass a cap together.
 */
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
    const { id, userId, agentId, hookId, day, model, inputTokens, price, at } = call;
    const costUsd = price && callCost(price, inputTokens, outputTokens);
    const parentId = agentOf(agentId)?.parent_id ?? null;
    insert.run({
      ...{ id, userId, agentId, parentId, hookId, day, model },
      ...{ inputTokens, outputTokens, costUsd, at },
    });
    if (call.isStep) countSteps(call);
    return { is: 'granted', outputTokens, step: agentOf(agentId)?.steps ?? 0 };
  };

  return (call: CallRequest): CallGrant => {
    settleLeft(call);
    if (agentOf(call.agentId)?.status !== 'running') return { is: 'gone' };
    const all = accounts(call);
    for (const account of all) {
      const of = capReached(call, account);
      if (of) return { is: 'full', on: account.on, of };
    }
    const most = all.map((account) => roomFor(call, account.used, account));
    const free = all.map((account) => roomFor(call, withHeld(account), account));
    const wanted = Math.min(call.outputTokens, ...most);
    const room = Math.min(call.outputTokens, ...free);
    const isEnough = room >= wanted || (call.takesLess && room >= call.fewestTokens);
    return isEnough ? grant(call, room) : { is: 'held' };
  };
};

/** An agent makes one call at a time: one that is still there was left by a failure of the disk. */
const leftSettler = (db: Database.Database) => {
  const left = db.prepare<[string], Pick<ReservationRow, 'id' | ReservedColumn>>(
    'SELECT id, input_tokens, output_tokens, cost_usd FROM reservations WHERE agent_id = ?',
  );
  return ({ agentId, at }: CallRequest): void => {
    for (const row of left.all(agentId)) {
      for (const { sql, parameters } of settleCall(asReserved(row, at))) {
        db.prepare(sql).run(...parameters);
      }
    }
  };
};

type ReservedColumn = 'input_tokens' | 'output_tokens' | 'cost_usd';

/** A call whose end nobody saw is taken to have come to all that was set aside for it. */
export const asReserved = (row: Pick<ReservationRow, 'id' | ReservedColumn>, at: string) => ({
  id: row.id,
  inputTokens: row.input_tokens,
  outputTokens: row.output_tokens,
  costUsd: row.cost_usd,
  latencyMs: 0,
  at,
});

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
