import { Kysely } from 'kysely';
import { threadDialect } from './dialect.js';
import { type Engine, startEngine } from './engine.js';
import type { Procedures } from './procedures.js';
import type { Migration, Opened, Outcome, Statement } from './protocol.js';
import type { Tables } from './tables.js';

/** Anything that compiles to one statement: every Kysely query builder does. */
export interface Compilable {
  compile(): { sql: string; parameters: readonly unknown[] };
}

export interface Store {
  opened: Opened;
  /** Typed single statements; selects run in a thread of their own. */
  db: Kysely<Tables>;
  /**
   * All of the statements or none, in one message. `Unmet` when an expectation fails, `Taken` when
   * something unique is taken, `Unavailable` when the disk will not have it.
   */
  transact(statements: Statement[]): Promise<Outcome[]>;
  /** A named synchronous function in the thread: the hot paths. */
  call<N extends keyof Procedures>(
    name: N,
    input: Parameters<Procedures[N]>[0],
  ): Promise<ReturnType<Procedures[N]>>;
  close(): Promise<void>;
}

/** A statement of a transaction; `rows` is how many it must change, or the whole is rolled back. */
export const statement = (query: Compilable, rows?: number): Statement => {
  const { sql, parameters } = query.compile();
  return rows === undefined ? { sql, parameters } : { sql, parameters, expect: rows };
};

/** Opens the database in `home`. OpenRefused says why in one line for the operator. */
export const openStore = async (
  home: string,
  migrations: Migration[],
  onLost: (error: Error) => void,
): Promise<Store> => {
  const writer = await startEngine({ role: 'writer', home, migrations }, onLost);
  const reader = await startReader(home, writer, onLost);
  const db = new Kysely<Tables>({ dialect: threadDialect(writer, reader) });
  return {
    opened: writer.opened,
    db,
    transact: async (statements) => (await writer.perform({ statements })) as Outcome[],
    call: async (procedure, input) => (await writer.perform({ procedure, input })) as never,
    close: async () => {
      await reader.close();
      await writer.close();
    },
  };
};

const startReader = async (
  home: string,
  writer: Engine,
  onLost: (error: Error) => void,
): Promise<Engine> => {
  try {
    return await startEngine({ role: 'reader', home, migrations: [] }, onLost);
  } catch (error) {
    await writer.close();
    throw error;
  }
};
