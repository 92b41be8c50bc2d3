import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import {
  ExpectationFailed,
  STORAGE_FULL,
  type Statement,
  type StatementResult,
  type StoreWork,
  type TransactionStep,
  Unavailable,
  type WorkResult,
} from '../engine/protocol.js';
import { isStorageFull } from './database.js';

const STATEMENTS_KEPT = 500;

/** Prepared once and called often, in the database thread. */
export interface Procedure {
  run(inputs: unknown[]): unknown[];
}

/**
 * Concurrent calls share one transaction and fsync. A batch first runs without savepoints, which
 * would cost a quarter of a delivery. If a unit fails, everything is rolled back and repeated with
 * a savepoint per unit. BEGIN never outlives the call. Entries in `queued` of failed units are
 * removed.
 */
export const createBatchRunner = (
  db: Database.Database,
  procedures: Record<string, Procedure>,
  queued: string[] = [],
) => {
  const perform = performer(db, procedures);
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const rollback = db.prepare('ROLLBACK');
  const open = db.prepare('SAVEPOINT unit');
  const release = db.prepare('RELEASE unit');
  const undo = db.prepare('ROLLBACK TO unit');

  const unit = (work: StoreWork): WorkResult => {
    const before = queued.length;
    open.run();
    try {
      const [value] = perform([work]);
      release.run();
      return { value };
    } catch (error) {
      // A full disk ends the whole transaction, not only this unit.
      if (!db.inTransaction) throw error;
      queued.length = before;
      undo.run();
      release.run();
      return failure(error, db);
    }
  };

  const attempt = (all: () => WorkResult[]): WorkResult[] => {
    begin.run();
    const answers = all();
    commit.run();
    return answers;
  };

  const write = (works: StoreWork[]): WorkResult[] => {
    replaceLoneSurrogates(works);
    try {
      return attempt(() => perform(works).map((value) => ({ value })));
    } catch (error) {
      queued.length = 0;
      if (db.inTransaction) rollback.run();
      if (works.length === 1) return [failure(error, db)];
    }
    try {
      return attempt(() => works.map(unit));
    } catch (error) {
      queued.length = 0;
      if (db.inTransaction) rollback.run();
      return works.map(() => failure(error, db));
    }
  };

  const read = (work: StoreWork): WorkResult => {
    replaceLoneSurrogates(work);
    try {
      const [value] = perform([work]);
      return { value };
    } catch (error) {
      return failure(error, db);
    }
  };

  return { write, read: (works: StoreWork[]): WorkResult[] => works.map(read) };
};

const performer = (db: Database.Database, procedures: Record<string, Procedure>) => {
  const prepare = createStatementCache(db);

  const run = ({ sql, parameters }: Statement): StatementResult => {
    const statement = prepare(sql);
    if (!statement.reader) return { rows: [], changes: statement.run(...parameters).changes };
    const rows = statement.all(...parameters);
    return { rows, changes: statement.readonly ? 0 : rows.length };
  };

  const call = (name: string, inputs: unknown[]): unknown[] => {
    const procedure = procedures[name];
    if (!procedure) throw new Error(`Unknown database procedure: ${name}`);
    return procedure.run(inputs);
  };

  const take = (step: TransactionStep, at: number): unknown => {
    if ('audit' in step) return call('appendAudit', [step.audit])[0];
    if ('procedure' in step) return { rows: call(step.procedure, [step.input]), changes: 0 };
    const outcome = run(step);
    const touched = outcome.rows.length || outcome.changes;
    if (step.expect !== undefined && touched !== step.expect) {
      throw new ExpectationFailed(`${touched} rows instead of ${step.expect}`, at);
    }
    return outcome;
  };

  return (works: StoreWork[]): unknown[] => {
    const values: unknown[] = [];
    let inputs: unknown[] = [];
    for (const [at, work] of works.entries()) {
      if (!('procedure' in work)) {
        values.push(work.statements.map(take));
        continue;
      }
      inputs.push(work.input);
      if (calls(works[at + 1], work.procedure)) continue;
      values.push(...call(work.procedure, inputs));
      inputs = [];
    }
    return values;
  };
};

const calls = (work: StoreWork | undefined, procedure: string): boolean =>
  work !== undefined && 'procedure' in work && work.procedure === procedure;

const createStatementCache = (db: Database.Database) => {
  const prepared = new Map<string, Database.Statement>();
  return (sql: string): Database.Statement => {
    const known = prepared.get(sql);
    if (known) return known;
    if (prepared.size >= STATEMENTS_KEPT) prepared.delete(prepared.keys().next().value ?? '');
    const statement = db.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
};

const failure = (error: unknown, db: Database.Database): WorkResult => {
  if (error instanceof ExpectationFailed) {
    return { failure: { name: 'ExpectationFailed', message: error.message, at: error.at } };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof Unavailable) return { failure: { name: 'Unavailable', message } };
  if (!(error instanceof Database.SqliteError)) return { failure: { name: 'Broken', message } };
  if (/CONSTRAINT_(UNIQUE|PRIMARYKEY)/.test(error.code)) {
    return { failure: { name: 'UniqueViolation', message } };
  }
  if (isStorageFull(error, dirname(db.name))) {
    return { failure: { name: 'Unavailable', message: `SQLITE_FULL: ${STORAGE_FULL}` } };
  }
  const isPassing = /^SQLITE_(FULL|IOERR|READONLY|BUSY|LOCKED|CANTOPEN|NOMEM|CORRUPT)/.test(
    error.code,
  );
  return {
    failure: { name: isPassing ? 'Unavailable' : 'Broken', message: `${error.code}: ${message}` },
  };
};

/**
 * Replaces lone surrogates with U+FFFD. SQLite would store them as invalid UTF-8 and return three
 * characters, so that a text of maximum length would come back longer.
 */
const replaceLoneSurrogates = (given: object): void => {
  if (ArrayBuffer.isView(given)) return;
  for (const [key, value] of Object.entries(given)) {
    if (typeof value === 'string') {
      if (!value.isWellFormed()) Reflect.set(given, key, value.toWellFormed());
    } else if (typeof value === 'object' && value !== null) {
      replaceLoneSurrogates(value);
    }
  }
};
