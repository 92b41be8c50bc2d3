import { mint } from '../../src/kernel/ids.js';
import type { TestApp } from './app.js';

/** Writes indexed entries with one chunk each into the database. */
export const writeEntries = async (
  { app }: TestApp,
  userId: string,
  texts: string[][],
): Promise<string[]> => {
  const time = '2026-01-01T00:00:00.000Z';
  const ids: string[] = [];
  for (const chunks of texts) {
    const id = mint('entry', Date.now());
    ids.push(id);
    const chars = chunks.reduce((sum, text) => sum + text.length, 0);
    let start = 0;
    const rows = chunks.map((text, number) => {
      start += text.length;
      return { number, start: start - text.length, text };
    });
    await app.store.transact([
      {
        sql: `INSERT INTO knowledge_entries (id, user_id, title, folded_title, source_type, tags,
            trust, status, chunks, chars, created_at, updated_at)
          VALUES (?, ?, 'Written', 'written', 'note', '[]', 'owner', 'ready', ?, ?, ?, ?)`,
        parameters: [id, userId, chunks.length, chars, time, time],
      },
      {
        sql: `INSERT INTO knowledge_chunks (user_id, entry_id, number, start, text)
          SELECT ?, ?, value ->> 'number', value ->> 'start', value ->> 'text' FROM json_each(?)`,
        parameters: [userId, id, JSON.stringify(rows)],
      },
    ]);
  }
  return ids;
};
