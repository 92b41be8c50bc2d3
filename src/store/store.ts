import { Kysely } from 'kysely';
import type { Lookups, Procedures } from '../procedures.js';
import { threadDialect } from './dialect.js';
import type { EngineEvents } from './engine/engine.js';
import {
  ExpectationFailed,
  type OpenReport,
  type ProcedureStep,
  type Statement,
  type StatementResult,
  type StoreWork,
  type TransactionStep,
} from './engine/protocol.js';
import type { Tables } from './tables.js';
import { closeThreads, type Engines, openThreads, type StoreOptions } from './threads.js';

export interface Compilable {
  compile(): { sql: string; parameters: readonly unknown[] };
}

/**
 * Each call is a message to a thread, so the event loop never waits for the disk. All calls may
 * throw Unavailable.
 */
export interface Store {
  opened: OpenReport;
  /** Selects run in a reader thread, or without one in the writer thread. */
  db: Kysely<Tables>;
  /** Atomic, in one message. Throws `ExpectationFailed`, `UniqueViolation`, or `Unavailable`. */
  transact(steps: TransactionStep[]): Promise<StatementResult[]>;
  tryTransact(steps: TransactionStep[]): Promise<boolean>;
  call<N extends keyof Procedures>(
    name: N,
    input: Parameters<Procedures[N]>[0],
  ): Promise<ReturnType<Procedures[N]>>;
  look<N extends keyof Lookups>(
    name: N,
    input: Parameters<Lookups[N]>[0],
  ): Promise<ReturnType<Lookups[N]>>;
  openReader(): Promise<void>;
  whenQueued(call: (lanes: string[]) => void): void;
  pending(): number;
  /** Increases at the start and end of each possible write, so that readers notice changes. */
  writes(): number;
  refusals(): number;
  close(): Promise<void>;
}

/** `rows`: number of rows that must change, otherwise the transaction is rolled back. */
export const statement = (query: Compilable, rows?: number): Statement => {
  const { sql, parameters } = query.compile();
  return rows === undefined ? { sql, parameters } : { sql, parameters, expect: rows };
};

export const procedureStep = <N extends keyof Procedures>(
  procedure: N,
  input: Parameters<Procedures[N]>[0],
): ProcedureStep => ({ procedure, input });

export const resultOfLast = <N extends keyof Procedures>(
  _procedure: N,
  outcomes: StatementResult[],
): ReturnType<Procedures[N]> => outcomes.at(-1)?.rows[0] as never;

/** Asserts that a select finds exactly this many rows, otherwise the transaction is rolled back. */
export const assertRows = (select: Compilable, rows: number): Statement => statement(select, rows);

/** Index of the unmet step, or null if committed. */
export const unmetStep = async (transaction: Promise<unknown>): Promise<number | null> => {
  try {
    await transaction;
    return null;
  } catch (error) {
    if (error instanceof ExpectationFailed) return error.at;
    throw error;
  }
};

/** False if an expectation was not met. */
export const isCommitted = async (transaction: Promise<unknown>): Promise<boolean> =>
  (await unmetStep(transaction)) === null;

export const openStore = async (options: StoreOptions, events: EngineEvents): Promise<Store> =>
  createDatabaseStore(await openThreads(options, events));

const SLOW: ReadonlySet<string> = new Set<keyof Lookups>(['checkTable']);

export const createDatabaseStore = (engines: Engines): Store => {
  const { writer, reader } = engines;
  let writes = 0;
  const write = async (work: StoreWork): Promise<unknown> => {
    writes++;
    try {
      return await writer.perform(work);
    } finally {
      writes++;
    }
  };
  const db = new Kysely<Tables>({ dialect: threadDialect({ perform: write }, reader) });
  const transact: Store['transact'] = async (steps) =>
    (await write({ statements: steps })) as StatementResult[];
  return {
    opened: writer.opened,
    db,
    transact,
    tryTransact: (steps) => isCommitted(transact(steps)),
    call: (procedure, input) => write({ procedure, input }) as never,
    look: (procedure, input) => {
      const work = { procedure, input };
      return (SLOW.has(procedure) ? reader.performSlow(work) : reader.perform(work)) as never;
    },
    openReader: reader.open,
    whenQueued: (call) => {
      writer.queued = call;
    },
    pending: () => writer.pending,
    writes: () => writes,
    refusals: () => writer.refusals,
    close: () => closeThreads(engines),
  };
};
