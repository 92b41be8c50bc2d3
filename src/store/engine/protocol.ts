import type { AuditStep } from '../../kernel/contract/audit.js';
import type { SendingAttemptRow, SendingRow } from '../tables/outbox.js';

/** What the event loop and the database thread say to each other. */

/** One compiled statement. `expect` is the number of rows that it must change, or nothing is. */
export interface Statement {
  sql: string;
  parameters: readonly unknown[];
  expect?: number;
}

/** What a statement came to; `rows` are those that it selected or returned. */
export interface StatementResult {
  rows: unknown[];
  changes: number;
}

/** How an attempt to send ended. */
export interface Settlement {
  sending: Pick<SendingRow, 'id' | 'status' | 'next_at' | 'receipt' | 'error' | 'finished_at'>;
  /** null: there was none, the sending ends without it. */
  attempt: SendingAttemptRow | null;
  /** The webhook that took it, and fails no more. */
  recovered: string | null;
  jobId: number;
}

/** The end of an attempt to send, with what else changes with it. */
export interface SettleStep {
  settle: Settlement;
}

/** Of a transaction: a statement, or what a procedure does. */
export type TransactionStep = Statement | AuditStep | SettleStep;

/** A unit that happens whole or not at all: statements, or a named procedure in the thread. */
export type StoreWork = { statements: TransactionStep[] } | { procedure: string; input: unknown };

export type WorkResult =
  | { value: unknown }
  | { failure: { name: FailureName; message: string; at?: number } };

export type FailureName = 'Unmet' | 'Taken' | 'Unavailable' | 'Broken';

/** What was asked during one turn of the event loop, or a part of it. */
export interface Batch {
  id: number;
  works: StoreWork[];
}

/** An answer for each work of the batch of that id, in its order. */
export interface BatchAnswer {
  id: number;
  answers: WorkResult[];
}

/** `open` comes first, once; nothing is opened before it. */
export type ThreadRequest = { kind: 'open' } | ({ kind: 'batch' } & Batch) | { kind: 'close' };

export type ThreadReply =
  | { kind: 'opened'; opened: OpenReport; audit: AuditReport | null }
  | { kind: 'refused'; message: string }
  | { kind: 'answers'; batches: BatchAnswer[]; audit: AuditReport | null };

/** The newest entry of the audit log: its MAC covers all that come before it. */
export interface AuditHead {
  number: number;
  mac: string;
}

/** What the log is to say of the audit log: that its head moved, that something is wrong with it. */
export interface AuditReport {
  head: AuditHead | null;
  problem: string | null;
}

/** What was found and done when the database was opened. */
export interface OpenReport {
  isNew: boolean;
  schema: number;
  /** Name of the snapshot made before migrations, if one was made. */
  snapshot: string | null;
  migrated: number[];
}

/** A step of the schema, forward only; SQLite's `user_version` is the newest that was applied. */
export interface Migration {
  version: number;
  name: string;
  sql: string;
}

/** What a database thread is started with. */
export interface ThreadOptions {
  role: 'writer' | 'reader';
  home: string;
  migrations: Migration[];
  /** Of the MACs of the audit log; 32 bytes. */
  auditKey: Uint8Array;
  /** The same under a master key that a change was begun to and not ended. */
  comingAuditKey?: Uint8Array;
  /** A file outside the home that the heads of the audit log go to as well. */
  auditHeads?: string;
}

/** An expectation on a statement was not met; everything of its unit was rolled back. */
export class Unmet extends Error {
  constructor(
    message: string,
    /** Index of the statement in its unit. */
    readonly at: number,
  ) {
    super(message);
    this.name = 'Unmet';
  }
}

/** A name or key that must be unique is taken. */
export class Taken extends Error {
  override name = 'Taken';
}

/** The database cannot be written or read now: full disk, read-only, locked. Nothing was changed. */
export class Unavailable extends Error {
  override name = 'Unavailable';
}

/** The database thread refused to open; the message is for the operator. */
export class OpenRefused extends Error {
  override name = 'OpenRefused';
}
