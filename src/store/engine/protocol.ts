import type { AuditStep } from '../../kernel/contract/audit.js';

/** The messages between the event loop and the database thread. */

/** The file of the database in a home. */
export const DATABASE = 'adjutant.db';

/**
 * One compiled statement. `expect` is the number of rows that it must change or, if it only selects,
 * must find; otherwise the whole unit is rolled back.
 */
export interface Statement {
  sql: string;
  parameters: readonly unknown[];
  expect?: number;
}

/**
 * The result of a statement: `rows` are those that it selected or returned. Of a procedure, the one
 * row is what it returned.
 */
export interface StatementResult {
  rows: unknown[];
  changes: number;
}

/** A call of a named procedure as a part of a transaction. `procedureStep` makes it. */
export interface ProcedureStep {
  procedure: string;
  input: unknown;
}

/** One part of a transaction: a statement, or the work of a procedure. */
export type TransactionStep = Statement | AuditStep | ProcedureStep;

/**
 * A unit that takes effect as a whole or not at all: statements, or a named procedure in the
 * thread.
 */
export type StoreWork = { statements: TransactionStep[] } | { procedure: string; input: unknown };

export type WorkResult =
  | { value: unknown }
  | { failure: { name: FailureName; message: string; at?: number } };

export type FailureName = 'Unmet' | 'Taken' | 'Unavailable' | 'Broken';

/** The calls of one turn of the event loop, or some of them. */
export interface Batch {
  id: number;
  works: StoreWork[];
}

/** The results of the batch with that id, one for each work, in its order. */
export interface BatchAnswer {
  id: number;
  answers: WorkResult[];
}

/** A request to the thread. `open` comes first, once; nothing is opened before it. */
export type ThreadRequest =
  | { kind: 'open' }
  | ({ kind: 'batch' } & Batch)
  | { kind: 'checkpoint' }
  | { kind: 'close' };

export type ThreadReply =
  | { kind: 'opened'; opened: OpenReport; audit: AuditReport | null }
  | { kind: 'refused'; message: string }
  | {
      kind: 'answers';
      batches: BatchAnswer[];
      audit: AuditReport | null;
      /** The lanes in which procedures added jobs, each as often as one was added. */
      lanes: string[];
    };

/** The newest entry of the audit log. Its MAC covers all entries before it. */
export interface AuditHead {
  number: number;
  mac: string;
}

/** A report about the audit log: its changed head, or a problem with it. */
export interface AuditReport {
  head: AuditHead | null;
  problem: string | null;
}

/** The result of opening the database. */
export interface OpenReport {
  isNew: boolean;
  schema: number;
  /** The name of the snapshot made before migrations, or null without one. */
  snapshot: string | null;
  migrated: number[];
}

/**
 * A migration of the schema, forward only. SQLite's `user_version` is the newest that was applied.
 */
export interface Migration {
  version: number;
  name: string;
  sql: string;
  /** The triggers of the schema that it makes; without them, all migrations are run to know. */
  triggers?: MadeTrigger[];
}

/** A trigger as SQLite stores it, with each run of white space as one space. */
export interface MadeTrigger {
  name: string;
  table: string;
  sql: string;
}

/** The options with which a database thread is started. */
export interface ThreadOptions {
  role: 'writer' | 'reader';
  home: string;
  migrations: Migration[];
  /** The key of the MACs of the audit log, 32 bytes. */
  auditKey: Uint8Array;
  /** The same under a new master key, while a change of the master key is unfinished. */
  comingAuditKey?: Uint8Array;
  /** A file outside the home to which the heads of the audit log are written as well. */
  auditHeads?: string;
}

/** The error of a statement whose expectation was not met. Its whole unit was rolled back. */
export class Unmet extends Error {
  constructor(
    message: string,
    /** The index of the statement in its unit. */
    readonly at: number,
  ) {
    super(message);
    this.name = 'Unmet';
  }
}

/** The error of a name or key that must be unique and is taken. */
export class Taken extends Error {
  override name = 'Taken';
}

/** SQLite's sentence about a full disk. */
export const STORAGE_FULL = 'database or disk is full';

/**
 * The error of a database that cannot be written or read now: full disk, read-only, locked. Nothing
 * was changed.
 */
export class Unavailable extends Error {
  override name = 'Unavailable';

  /** True if no room is left on the disk of the database. */
  get isDiskFull(): boolean {
    return this.message.includes(STORAGE_FULL);
  }
}

/** The error of a database thread that refused to open. The message is for the operator. */
export class OpenRefused extends Error {
  override name = 'OpenRefused';
}
