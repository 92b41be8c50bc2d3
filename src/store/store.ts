import { Kysely } from 'kysely';
import type { Lookups, Procedures } from '../procedures.js';
import { threadDialect } from './dialect.js';
import type { EngineEvents } from './engine/engine.js';
import {
  type OpenReport,
  type Statement,
  type StatementResult,
  type TransactionStep,
  Unmet,
} from './engine/protocol.js';
import type { Tables } from './tables.js';
import { closeThreads, type Engines, openThreads, type StoreOptions } from './threads.js';

/** Anything that compiles to one statement: every Kysely query builder does. */
export interface Compilable {
  compile(): { sql: string; parameters: readonly unknown[] };
}

/**
 * The database as the rest of the daemon has it. Each call is a message to one of two threads, so the
 * event loop never waits for a disk. All of them may throw Unavailable.
 */
export interface Store {
  opened: OpenReport;
  /** Typed single statements; selects run in a thread of their own. */
  db: Kysely<Tables>;
  /**
   * All of the statements or none, in one message. `Unmet` when an expectation fails, `Taken` when
   * something unique is taken, `Unavailable` when the disk will not have it, or a row of the audit
   * log cannot be written.
   */
  transact(steps: TransactionStep[]): Promise<StatementResult[]>;
  /** A named synchronous function in the thread: the hot paths. */
  call<N extends keyof Procedures>(
    name: N,
    input: Parameters<Procedures[N]>[0],
  ): Promise<ReturnType<Procedures[N]>>;
  /** The same in the reading thread. */
  look<N extends keyof Lookups>(
    name: N,
    input: Parameters<Lookups[N]>[0],
  ): Promise<ReturnType<Lookups[N]>>;
  /** How often the disk would not have a write. */
  refusals(): number;
  close(): Promise<void>;
}

/** A statement of a transaction; `rows` is how many it must change, or the whole is rolled back. */
export const statement = (query: Compilable, rows?: number): Statement => {
  const { sql, parameters } = query.compile();
  return rows === undefined ? { sql, parameters } : { sql, parameters, expect: rows };
};

/** Whether a transaction came about; false where an expectation of it was not met. */
export const unlessUnmet = async (transaction: Promise<unknown>): Promise<boolean> => {
  try {
    await transaction;
    return true;
  } catch (error) {
    if (error instanceof Unmet) return false;
    throw error;
  }
};

/** Opens the database in a home. OpenRefused says why not in one line for the operator. */
export const openStore = async (options: StoreOptions, events: EngineEvents): Promise<Store> =>
  storeOf(await openThreads(options, events));

/** The store over threads that have opened. */
export const storeOf = (engines: Engines): Store => {
  const { writer, reader } = engines;
  const db = new Kysely<Tables>({ dialect: threadDialect(writer, reader) });
  return {
    opened: writer.opened,
    db,
    transact: async (steps) => (await writer.perform({ statements: steps })) as StatementResult[],
    call: (procedure, input) => writer.perform({ procedure, input }) as never,
    look: (procedure, input) => reader.perform({ procedure, input }) as never,
    refusals: () => writer.refusals,
    close: () => closeThreads(engines),
  };
};
