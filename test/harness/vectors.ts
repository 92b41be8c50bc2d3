import { hashOfChunk } from '../../src/knowledge/procedures/hash.js';
import type { TestApp } from './app.js';
import { vectorOfWords } from './embedder.js';

/** Vector of a text as stored, with one byte per dimension. */
export const storedVectorOf = (text: string, dimensions: number): Uint8Array =>
  new Uint8Array(
    Int8Array.from(vectorOfWords(text, dimensions), (each) => Math.min(each, 1) * 127).buffer,
  );

/** Writes vectors of the first embedder, which would take it minutes. */
export const writeVectors = async (
  { app }: TestApp,
  userId: string,
  { texts, dimensions }: { texts: string[][]; dimensions: number },
): Promise<void> => {
  for (const chunks of texts) {
    const rows = chunks.map((text) => ({
      hash: hashOfChunk({ heading: null, text }),
      hex: Buffer.from(storedVectorOf(text, dimensions)).toString('hex'),
    }));
    await app.store.transact([
      {
        sql: `INSERT INTO knowledge_vectors (user_id, hash, embedder, vector)
          SELECT ?, value ->> 'hash', 1, unhex(value ->> 'hex') FROM json_each(?)`,
        parameters: [userId, JSON.stringify(rows)],
      },
    ]);
  }
};
