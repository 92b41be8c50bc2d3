import type Database from 'better-sqlite3';
import { computeSignBits, createVectorTables, dropVectorTables, vectorTables } from './vectors.js';

interface StoredVector {
  embedder: number;
  vector: Buffer;
}

interface IndexedChunk {
  id: number;
  number: number;
}

export const vectorWriter = (search: Database.Database, main: Database.Database) => {
  const vectorsOf = main.prepare<[string, string, number], StoredVector>(
    `SELECT v.embedder, v.vector FROM knowledge_chunks AS c
      JOIN knowledge_vectors AS v ON v.user_id = c.user_id AND v.hash = c.hash
      WHERE c.user_id = ? AND c.entry_id = ? AND c.number = ? AND v.vector IS NOT NULL`,
  );
  const chunksOf = search.prepare<[string], IndexedChunk>(
    `SELECT c.id, c.number FROM entries AS e JOIN chunks AS c ON c.entry = e.id
      WHERE e.entry_id = ?`,
  );
  const ownerOf = main.prepare<[string], string>(
    'SELECT user_id FROM knowledge_entries WHERE id = ?',
  );
  const keepsAny = main.prepare<[string, number], number>(
    'SELECT 1 FROM knowledge_vectors WHERE user_id = ? AND embedder = ? LIMIT 1',
  );
  const inserts = new Map<number, (id: number, vector: Buffer) => void>();

  const inserterOf = (embedder: number) => {
    const { vectors, signs } = createVectorTables(search, embedder);
    const insertVector = search.prepare(`INSERT OR REPLACE INTO ${vectors} VALUES (?, ?)`);
    const insertSigns = search.prepare(`INSERT OR REPLACE INTO ${signs} VALUES (?, ?)`);
    return (id: number, vector: Buffer): void => {
      insertVector.run(id, vector);
      insertSigns.run(id, computeSignBits(vector));
    };
  };

  const insert = (id: number, { embedder, vector }: StoredVector): void => {
    const write = inserts.get(embedder) ?? inserterOf(embedder);
    inserts.set(embedder, write);
    write(id, vector);
  };

  return {
    put: (entryId: string): void => {
      const userId = ownerOf.pluck().get(entryId);
      if (userId === undefined) return;
      for (const { id, number } of chunksOf.all(entryId)) {
        for (const stored of vectorsOf.all(userId, entryId, number)) insert(id, stored);
      }
    },

    /** `entry` is its ID in the index. */
    remove: (entry: number): void => {
      for (const { vectors, signs } of vectorTables(search)) {
        for (const table of [vectors, signs]) {
          search
            .prepare(`DELETE FROM ${table} WHERE id IN (SELECT id FROM chunks WHERE entry = ?)`)
            .run(entry);
        }
      }
    },

    /** Removes vectors of an owner that no longer exist in the main database. */
    removeOthers: (userId: string): void => {
      inserts.clear();
      for (const tables of vectorTables(search)) {
        if (keepsAny.pluck().get(userId, tables.embedder) !== undefined) continue;
        for (const table of [tables.vectors, tables.signs]) {
          search.prepare(`DELETE FROM ${table} WHERE ${isOwners}`).run({ userId });
        }
        const left = search.prepare(`SELECT 1 FROM ${tables.vectors} LIMIT 1`).get();
        if (left === undefined) dropVectorTables(search, tables);
      }
    },
  };
};

const isOwners = `id BETWEEN (SELECT id << 32 FROM owners WHERE user_id = @userId)
  AND (SELECT (id << 32) + 4294967295 FROM owners WHERE user_id = @userId)`;
