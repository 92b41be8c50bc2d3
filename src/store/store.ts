import { Kysely } from 'kysely';
import type { Lookups, Procedures } from '../procedures.js';
import { threadDialect } from './dialect.js';
import type { EngineEvents } from './engine/engine.js';
import {
  type OpenReport,
  type ProcedureStep,
  type Statement,
  type StatementResult,
  type StoreWork,
  type TransactionStep,
  Unmet,
} from './engine/protocol.js';
import type { Tables } from './tables.js';
import { closeThreads, type Engines, openThreads, type StoreOptions } from './threads.js';

/** An object that compiles to one statement, as every Kysely query builder does. */
export interface Compilable {
  compile(): { sql: string; parameters: readonly unknown[] };
}

/**
 * The database for the rest of the daemon. Each call is a message to a thread, so the
 * event loop never waits for a disk. All calls may throw Unavailable.
 */
export interface Store {
  opened: OpenReport;
  /** Typed single statements. Selects run in a reader thread, or without one in the writer thread. */
  db: Kysely<Tables>;
  /**
   * Runs all of the statements or none, in one message. Throws `Unmet` if an expectation fails,
   * `Taken` if a unique value is taken, `Unavailable` if the disk refuses the write or a row of the
   * audit log cannot be written.
   */
  transact(steps: TransactionStep[]): Promise<StatementResult[]>;
  /** Runs them likewise. Resolves to false if an expectation fails: nothing was changed then. */
  tryTransact(steps: TransactionStep[]): Promise<boolean>;
  /** Calls a named synchronous function in the writer thread, for the hot paths. */
  call<N extends keyof Procedures>(
    name: N,
    input: Parameters<Procedures[N]>[0],
  ): Promise<ReturnType<Procedures[N]>>;
  /** Calls one where selects run. */
  look<N extends keyof Lookups>(
    name: N,
    input: Parameters<Lookups[N]>[0],
  ): Promise<ReturnType<Lookups[N]>>;
  /** Resolves when there is a reader thread, for the lists that a request may read. */
  openReader(): Promise<void>;
  /** Registers the function that is called with the lanes in which procedures queued jobs. */
  whenQueued(call: (lanes: string[]) => void): void;
  /** Returns the number of calls that wait for the writer thread. */
  pending(): number;
  /**
   * Returns a number that grows when a call begins that may write something, and when it is answered,
   * so that who read in between notices.
   */
  writes(): number;
  /** Returns the number of failed writes. */
  refusals(): number;
  close(): Promise<void>;
}

/**
 * Makes a statement of a transaction. `rows` is the number of rows that it must change, or the
 * whole transaction is rolled back.
 */
export const statement = (query: Compilable, rows?: number): Statement => {
  const { sql, parameters } = query.compile();
  return rows === undefined ? { sql, parameters } : { sql, parameters, expect: rows };
};

/** Makes a step of a transaction that calls a procedure of the writer thread. */
export const procedureStep = <N extends keyof Procedures>(
  procedure: N,
  input: Parameters<Procedures[N]>[0],
): ProcedureStep => ({ procedure, input });

/** Returns what the procedure returned that was the last step of a transaction. */
export const resultOfLast = <N extends keyof Procedures>(
  _procedure: N,
  outcomes: StatementResult[],
): ReturnType<Procedures[N]> => outcomes.at(-1)?.rows[0] as never;

/**
 * Makes a step that asserts that a select finds exactly so many rows when the transaction runs, or
 * the whole transaction is rolled back. It changes nothing.
 */
export const assertRows = (select: Compilable, rows: number): Statement => statement(select, rows);

/**
 * Returns the index of the step whose expectation was not met, or null if the transaction was
 * committed.
 */
export const unmetStep = async (transaction: Promise<unknown>): Promise<number | null> => {
  try {
    await transaction;
    return null;
  } catch (error) {
    if (error instanceof Unmet) return error.at;
    throw error;
  }
};

/** True if the transaction was committed, false if one of its expectations was not met. */
export const unlessUnmet = async (transaction: Promise<unknown>): Promise<boolean> =>
  (await unmetStep(transaction)) === null;

/**
 * Opens the database in a home. Throws OpenRefused with the reason in one line for the operator.
 */
export const openStore = async (options: StoreOptions, events: EngineEvents): Promise<Store> =>
  storeOf(await openThreads(options, events));

/** The lookups that read whole tables. */
const SLOW: ReadonlySet<string> = new Set<keyof Lookups>(['checkTable']);

/** Makes the store over threads that have opened. */
export const storeOf = (engines: Engines): Store => {
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
    tryTransact: (steps) => unlessUnmet(transact(steps)),
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
