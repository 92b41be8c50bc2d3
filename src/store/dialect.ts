import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { StatementResult, StoreWork } from './engine/protocol.js';

interface Performer {
  perform(work: StoreWork): Promise<unknown>;
}

/**
 * Selects go to reader threads, everything else to the writer thread. Kysely's own transactions
 * would hold BEGIN open across messages, so they are refused.
 */
export const threadDialect = (writer: Performer, reader: Performer): Dialect => ({
  createAdapter: () => new ThreadAdapter(),
  createDriver: () => threadDriver(writer, reader),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
});

/** Otherwise Kysely runs one query at a time, so that each read waits for the one before. */
class ThreadAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

const threadDriver = (writer: Performer, reader: Performer): Driver => {
  const connection: DatabaseConnection = {
    executeQuery: async <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
      const engine = SelectQueryNode.is(query.query) ? reader : writer;
      const [outcome] = (await engine.perform({
        statements: [{ sql: query.sql, parameters: query.parameters }],
      })) as [StatementResult];
      return { rows: outcome.rows as R[], numAffectedRows: BigInt(outcome.changes) };
    },
    streamQuery: () => {
      throw new Error('Streaming is not supported. Read pages instead');
    },
  };
  const refuse = async (): Promise<never> => {
    throw new Error('Use store.transact instead, because a transaction is one message');
  };
  return {
    init: async () => undefined,
    acquireConnection: async () => connection,
    releaseConnection: async () => undefined,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: async () => undefined,
  };
};
