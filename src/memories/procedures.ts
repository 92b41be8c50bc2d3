import type Database from 'better-sqlite3';

export interface RecallRequest {
  userId: string;
  /** See `searchWords`. */
  words: string[];
  /** Maximum per kind. */
  most: number;
}

export interface RecalledMemory {
  id: string;
  text: string;
  about: string;
}

/** Pinned memories are newest first. */
export interface RecalledMemories {
  pinned: RecalledMemory[];
  matching: RecalledMemory[];
}

/** A memory scores higher the more of the words it contains, and the rarer they are. */
export const recalledMemories = (db: Database.Database) => {
  const pinned = db.prepare<[string, number], RecalledMemory>(
    `SELECT id, text, about FROM memories
      WHERE user_id = ? AND pinned = 1 AND confirmed = 1 ORDER BY id DESC LIMIT ?`,
  );
  const matching = db.prepare<[{ userId: string; words: string; most: number }], RecalledMemory>(
    `WITH hits AS MATERIALIZED (
        SELECT m.id, m.text, m.about, w.word
        FROM json_each(@words) AS asked
        JOIN memory_words AS w ON w.user_id = @userId AND w.word = asked.value
        JOIN memories AS m ON m.id = w.memory_id AND m.confirmed = 1
      ), words AS (SELECT word, count(*) AS memories FROM hits GROUP BY word)
      SELECT h.id, h.text, h.about FROM hits AS h JOIN words USING (word)
      GROUP BY h.id ORDER BY sum(1.0 / words.memories) DESC, h.id DESC LIMIT @most`,
  );
  return ({ userId, words, most }: RecallRequest): RecalledMemories => ({
    pinned: pinned.all(userId, most),
    matching: matching.all({ userId, words: JSON.stringify(words), most }),
  });
};
