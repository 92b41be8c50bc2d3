import type { AuditStep } from '../../kernel/contract/audit.js';

export const DATABASE = 'adjutant.db';

/**
 * `expect`: rows that must be changed, or found by a select. Otherwise the whole unit is rolled
 * back.
 */
export interface Statement {
  sql: string;
  parameters: readonly unknown[];
  expect?: number;
}

export interface StatementResult {
  rows: unknown[];
  changes: number;
}

export interface ProcedureStep {
  procedure: string;
  input: unknown;
}

export type TransactionStep = Statement | AuditStep | ProcedureStep;

export type StoreWork = { statements: TransactionStep[] } | { procedure: string; input: unknown };

export type WorkResult =
  | { value: unknown }
  | { failure: { name: FailureName; message: string; at?: number } };

export type FailureName = 'ExpectationFailed' | 'UniqueViolation' | 'Unavailable' | 'Broken';

export interface Batch {
  id: number;
  works: StoreWork[];
}

export interface BatchAnswer {
  id: number;
  answers: WorkResult[];
}

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
      /** Lanes of added jobs, one entry per job. */
      lanes: string[];
    };

/** Newest audit entry. Its MAC covers all earlier ones. */
export interface AuditHead {
  number: number;
  mac: string;
}

export interface AuditReport {
  head: AuditHead | null;
  problem: string | null;
}

export interface OpenReport {
  isNew: boolean;
  schema: number;
  /** Snapshot before migrations. Null without one. */
  snapshot: string | null;
  migrated: number[];
}

/** Forward only. SQLite's `user_version` is the newest applied version. */
export interface Migration {
  version: number;
  name: string;
  sql: string;
  /** Triggers of the resulting schema. Without them, all migrations are run to find out. */
  triggers?: SchemaTrigger[];
}

export interface SchemaTrigger {
  name: string;
  table: string;
  sql: string;
}

export interface ThreadOptions {
  role: 'writer' | 'reader';
  home: string;
  migrations: Migration[];
  /** MAC key of the audit log, 32 bytes. */
  auditKey: Uint8Array;
  /** Key under the new master key, during an unfinished change. */
  comingAuditKey?: Uint8Array;
  auditHeads?: string;
}

export class ExpectationFailed extends Error {
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message);
    this.name = 'ExpectationFailed';
  }
}

export class UniqueViolation extends Error {
  override name = 'UniqueViolation';
}

export const STORAGE_FULL = 'database or disk is full';

/** Not writable or readable now: full disk, read-only, locked. Nothing was changed. */
export class Unavailable extends Error {
  override name = 'Unavailable';

  get isDiskFull(): boolean {
    return this.message.includes(STORAGE_FULL);
  }
}

export class OpenRefused extends Error {
  override name = 'OpenRefused';
}

export const homeInUse = (home: string): OpenRefused =>
  new OpenRefused(`Another Adjutant already uses the home folder ${home}`);
