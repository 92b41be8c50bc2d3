import Database from 'better-sqlite3';
import type Joi from 'joi';
import { migrations } from '../../migrations/all.js';
import { openProcedures } from '../../src/procedures.js';
import { Engine } from '../../src/store/engine/engine.js';
import type { StoreWork } from '../../src/store/engine/protocol.js';

/** The tables that grow with what comes in and with what is done. */
const LARGE = [
  ...['deliveries', 'delivery_claims', 'executions', 'execution_minutes', 'hooks', 'jobs'],
  ...['agents', 'agent_events', 'messages', 'sessions', 'run_notices', 'approvals', 'model_calls'],
  'approval_grants',
  ...['notifications', 'outgoing_events', 'sendings', 'sending_attempts', 'held_notices'],
  ...['audit', 'idempotency', 'inbound_events', 'credentials', 'auth_sessions'],
  'operations',
  ...['tasks', 'task_blockers', 'task_tags', 'task_words'],
  ...['recurring_tasks', 'recurring_runs'],
  'mail_accounts',
  'mail_messages',
  ...['knowledge_entries', 'knowledge_tags', 'knowledge_chunks', 'knowledge_changes'],
];

/** Records every statement that the process gives the threads, until it is stopped. */
export const recordStatements = (): { stop(): Set<string> } => {
  const found = new Set<string>();
  const { perform } = Engine.prototype;
  Engine.prototype.perform = function (work: StoreWork) {
    if ('statements' in work) {
      for (const step of work.statements) if ('sql' in step) found.add(oneLine(step.sql));
    }
    return perform.call(this, work);
  };
  return {
    stop: () => {
      Engine.prototype.perform = perform;
      return found;
    },
  };
};

/** The statements that the procedures of the threads prepare. */
export const procedureStatements = (): Set<string> => {
  const db = schema();
  const found = new Set<string>();
  const recording = new Proxy(db, {
    get: (of, key) => {
      const value = Reflect.get(of, key);
      if (key !== 'prepare') return typeof value === 'function' ? value.bind(of) : value;
      return (sql: string) => {
        found.add(oneLine(sql));
        return of.prepare(sql);
      };
    },
  });
  for (const role of ['writer', 'reader'] as const) {
    openProcedures(recording, { role, home: '', migrations, auditKey: new Uint8Array(32) });
  }
  db.close();
  return found;
};

interface Scan {
  sql: string;
  plan: string;
}

/**
 * The scans that are meant, by a part of the statement, each with its reason. A scan in the order of
 * the ids that ends at a limit reads no more rows than it returns.
 */
const EXPECTED: [RegExp, string][] = [
  [/^select distinct "user_id" from "knowledge_entries"/i, 'those that wait for vectors'],
  [/^select count\(distinct "user_id"\)/i, 'before an admin changes the embedder'],
  [/^select .* from "hooks"( where "trigger" = \?)?$/i, 'at the start, once'],
  [/from "hooks" .*"next_run_at"/i, 'at the start, once'],
  [/"jobs" .*"kind" in/i, 'at the start, once'],
  [/as "lane", count\(\*\) as "count" from "executions"/i, 'at the start, once'],
  [/^SELECT id AS key, .* AS sealed/i, 'a change of the keys, in batches'],
  [/from "audit".* order by .*"number" desc limit \?$/i, 'the newest entries, up to a limit'],
  [/^SELECT number, mac FROM audit ORDER BY number DESC LIMIT 1$/i, 'the newest entry'],
  [/from "executions" order by "id" desc limit \?$/i, 'the newest execution'],
  [/^select "s".* from "sendings" as "s" .*order by "s"."id" desc limit \?$/i, 'an admin’s list'],
  [/from "knowledge_changes" order by "seq" desc limit \?$/i, 'the newest change'],
  [/^DELETE FROM delivery_claims .* ORDER BY id LIMIT \d+\)$/i, 'the oldest, up to a limit'],
  [/"rotate_every_days" is not null/i, 'credentials that are to be rotated, by their own index'],
];

/** The scans of statements that nobody has given a reason for. */
export const unexpectedScans = (statements: Iterable<string>): Scan[] =>
  scansOf(statements).filter(({ sql }) => !EXPECTED.some(([part]) => part.test(sql)));

/** The steps of statements that read a whole table, or its whole index, that grows. */
const scansOf = (statements: Iterable<string>): Scan[] => {
  const db = schema();
  const scans: Scan[] = [];
  for (const sql of statements) {
    if (/^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|PRAGMA)/i.test(sql)) continue;
    const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...blanks(sql));
    for (const { detail: plan } of rows as { detail: string }[]) {
      if (isScan(sql, plan)) scans.push({ sql, plan });
    }
  }
  db.close();
  return scans;
};

const isScan = (sql: string, plan: string): boolean => {
  const name = /^SCAN (\w+)/.exec(plan)?.[1];
  if (name === undefined) return false;
  const table = LARGE.find(
    (one) => one === name || new RegExp(`\\b${one}"?( as)? "?${name}\\b`, 'i').test(sql),
  );
  return table !== undefined;
};

/** Values for the parameters of a statement, whatever they are called. */
const blanks = (sql: string): unknown[] => {
  const named = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => name ?? '');
  const numbered = sql.split('?').length - 1;
  return [
    ...Array.from({ length: numbered }, () => null),
    ...(named.length > 0 ? [Object.fromEntries(named.map((name) => [name, null]))] : []),
  ];
};

const schema = (): Database.Database => {
  const db = new Database(':memory:');
  for (const { sql } of migrations) db.exec(sql);
  return db;
};

const oneLine = (sql: string): string => sql.replace(/\s+/g, ' ').trim();

/** One query string for each parameter of a list, and one with all of them. */
export const queriesOf = (query: Joi.Schema): string[] => {
  const keys = Object.entries<Joi.Description>(query.describe().keys);
  const given = keys.map(([key, described]) => `${key}=${encodeURIComponent(sampleOf(described))}`);
  return ['', ...given, given.join('&')].map((one) => `?${one}`);
};

const sampleOf = ({ type, allow, flags, rules }: Joi.Description): string => {
  const [first] = (allow ?? []).filter((value: unknown) => typeof value !== 'object');
  const isOnly = Boolean(Object.getOwnPropertyDescriptor(flags ?? {}, 'only')?.value);
  if (isOnly) return String(first);
  if (type === 'number') return '1';
  if (type === 'boolean') return 'true';
  const isTime = (rules ?? []).some(({ name }: { name: string }) => name === 'isoDate');
  return isTime || type === 'date' ? '2026-01-01T00:00:00.000Z' : 'hook_01jcx2kq7m8f3k2a9v5ztw4e6r';
};
