import type { TransactionStep } from '../store/engine/protocol.js';
import { EMBEDDER_FACT, type NumberedEmbedder } from './embedqueries.js';

/**
 * Name of the embedder (second parameter) if each chunk has a vector of it (first parameter is its
 * ID).
 */
const nameIfWhole = `(CASE WHEN EXISTS (SELECT 1 FROM knowledge_chunks AS c
  LEFT JOIN knowledge_vectors AS v
    ON v.user_id = c.user_id AND v.hash = c.hash AND v.embedder = ?
  WHERE c.user_id = e.user_id AND c.entry_id = e.id AND v.vector IS NULL) THEN NULL ELSE ? END)`;

export const embedSteps = {
  /** An English embedder marks entries in other languages as processed. */
  skipOthers: (userId: string, { id }: NumberedEmbedder): TransactionStep => ({
    sql: `UPDATE knowledge_entries SET embedder = ?, embedded_with = NULL
        WHERE user_id = ? AND embedder IS NULL AND chunks > 0 AND language <> 'en'`,
    parameters: [id, userId],
  }),

  /** Does nothing if the last entry with this text was deleted. */
  insert: (
    userId: string,
    id: number,
    { hash, vector }: { hash: string; vector: Uint8Array | null },
  ): TransactionStep => ({
    sql: `INSERT INTO knowledge_vectors (user_id, hash, embedder, vector) SELECT ?, ?, ?, ?
        WHERE EXISTS (SELECT 1 FROM knowledge_chunks WHERE user_id = ? AND hash = ?)
        ON CONFLICT DO NOTHING`,
    parameters: [userId, hash, id, vector, userId, hash],
  }),

  change: (id: string, kind: 'vectors' | 'owner'): TransactionStep => ({
    sql: 'INSERT INTO knowledge_changes (entry_id, mark, kind) VALUES (?, hex(randomblob(8)), ?)',
    parameters: [id, kind],
  }),

  /**
   * Does nothing if the entry has changed or another embedder is active. `isCurrent` means that
   * searches of the owner use these vectors.
   */
  take: (
    userId: string,
    entryId: string,
    { id, key, name, isCurrent }: NumberedEmbedder & { isCurrent: boolean },
  ): TransactionStep => ({
    sql: `UPDATE knowledge_entries AS e SET embedder = ?,
          embedded_with = CASE WHEN ? THEN ${nameIfWhole} ELSE embedded_with END
        WHERE user_id = ? AND id = ? AND embedder IS NULL AND chunks > 0
          AND NOT EXISTS (SELECT 1 FROM knowledge_chunks AS c
            WHERE c.user_id = e.user_id AND c.entry_id = e.id
              AND NOT EXISTS (SELECT 1 FROM knowledge_vectors AS v
                WHERE v.user_id = c.user_id AND v.hash = c.hash AND v.embedder = ?))
          AND EXISTS (SELECT 1 FROM facts WHERE name = '${EMBEDDER_FACT}' AND value = ?)`,
    parameters: [id, isCurrent ? 1 : 0, id, name, userId, entryId, id, key],
  }),

  switchTo: (userId: string, { id, name }: NumberedEmbedder): TransactionStep[] => [
    {
      sql: `INSERT INTO user_embedders (user_id, embedder) VALUES (?, ?)
          ON CONFLICT DO UPDATE SET embedder = excluded.embedder`,
      parameters: [userId, id],
    },
    {
      sql: `UPDATE knowledge_entries AS e SET embedded_with = ${nameIfWhole}
          WHERE user_id = ? AND embedder = ?`,
      parameters: [id, name, userId, id],
    },
    {
      sql: 'DELETE FROM knowledge_vectors WHERE user_id = ? AND embedder <> ?',
      parameters: [userId, id],
    },
  ],
};
