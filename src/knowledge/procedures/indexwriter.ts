import type Database from 'better-sqlite3';
import { createOwnerTables, dropOwner, ownerTables } from './searchdb.js';
import { vectorWriter } from './vectorwriter.js';
import { indexedText, spacedWords } from './words.js';

interface EntryToIndex {
  entry_id: string;
  user_id: string;
  title: string;
  source_type: string;
  trust: string;
  tags: string;
  created_at: string;
}

interface ChunkToIndex {
  number: number;
  text: string;
  heading: string | null;
}

/** Only parts of words in this length range are indexed. */
const MIN_WORD_LENGTH = 4;
const MAX_WORD_LENGTH = 40;
const MAX_KNOWN = 200_000;

const known = new Set<string>();

export const forgetKnownWords = (): void => known.clear();

export const indexWriter = (search: Database.Database, main: Database.Database) => {
  const entryOf = main.prepare<[string], EntryToIndex>(
    `SELECT id AS entry_id, user_id, title, source_type, trust, tags, created_at
      FROM knowledge_entries WHERE id = ? AND chunks > 0`,
  );
  const chunksOf = main.prepare<[string, string], ChunkToIndex>(
    `SELECT number, text, heading FROM knowledge_chunks
      WHERE user_id = ? AND entry_id = ? ORDER BY number`,
  );
  const words = wordWriter(search);
  const vectors = vectorWriter(search, main);
  const remove = remover(search, vectors.remove);
  const insertOwner = search.prepare('INSERT OR IGNORE INTO owners (user_id) VALUES (?)');
  const ownerOf = search.prepare<[string], number>('SELECT id FROM owners WHERE user_id = ?');
  const made = search.prepare<[number], number>('SELECT made FROM owners WHERE id = ?');
  const countChunks = search.prepare(
    'UPDATE owners SET chunks = chunks + ?, made = made + ? WHERE id = ?',
  );
  const insertEntry = search.prepare(
    `INSERT INTO entries (entry_id, owner, source_type, trust, tags, created_at)
      VALUES (@entry_id, @owner, @source_type, @trust, @tags, @created_at)`,
  );
  const insertChunk = search.prepare(
    'INSERT INTO chunks (id, entry, number) VALUES ((? << 32) + ?, ?, ?)',
  );
  const insertWords = (owner: number) =>
    search.prepare(
      `INSERT INTO ${ownerTables(owner).words} (rowid, title, words, grams)
        VALUES ((? << 32) + ?, ?, ?, ?)`,
    );

  const write = (entry: EntryToIndex): void => {
    insertOwner.run(entry.user_id);
    const owner = ownerOf.pluck().get(entry.user_id) ?? 0;
    createOwnerTables(search, owner);
    const insert = insertWords(owner);
    const { lastInsertRowid } = insertEntry.run({ ...entry, owner });
    const first = made.pluck().get(owner) ?? 0;
    let count = 0;
    for (const { number, text, heading } of chunksOf.iterate(entry.user_id, entry.entry_id)) {
      insertChunk.run(owner, first + count, lastInsertRowid, number);
      const title = indexedText(heading === null ? entry.title : `${entry.title} ${heading}`);
      const body = indexedText(text);
      const grams = `${title.grams} ${body.grams}`.trim();
      insert.run(owner, first + count, title.words, body.words, grams);
      words.put(owner, `${title.words} ${body.words}`);
      count++;
    }
    countChunks.run(count, count, owner);
  };

  return {
    put: (id: string): void => {
      remove(id);
      const entry = entryOf.get(id);
      if (!entry) return;
      write(entry);
      vectors.put(id);
    },
    putVectors: vectors.put,
    removeOtherVectors: vectors.removeOthers,
  };
};

const remover = (search: Database.Database, removeVectors: (entry: number) => void) => {
  const entryOf = search.prepare<[string], { id: number; owner: number }>(
    'SELECT id, owner FROM entries WHERE entry_id = ?',
  );
  const removeWords = (owner: number) =>
    search.prepare(
      `DELETE FROM ${ownerTables(owner).words} WHERE rowid IN (SELECT id FROM chunks WHERE entry = ?)`,
    );
  const removeChunks = search.prepare('DELETE FROM chunks WHERE entry = ?');
  const removeEntry = search.prepare('DELETE FROM entries WHERE id = ?');
  const countChunks = search
    .prepare<[number, number], number>(
      'UPDATE owners SET chunks = chunks - ? WHERE id = ? RETURNING chunks',
    )
    .pluck();
  return (entryId: string): void => {
    const entry = entryOf.get(entryId);
    if (!entry) return;
    removeVectors(entry.id);
    removeWords(entry.owner).run(entry.id);
    const { changes } = removeChunks.run(entry.id);
    removeEntry.run(entry.id);
    if (countChunks.get(changes, entry.owner) !== 0) return;
    // Removes all data of the owner.
    dropOwner(search, entry.owner);
    forgetKnownWords();
  };
};

const wordWriter = (search: Database.Database) => {
  const insert = search.prepare(
    `INSERT OR IGNORE INTO vocabulary (id, owner, word)
      SELECT (id << 32) + words, id, ? FROM owners WHERE id = ?`,
  );
  const insertPart = search.prepare(
    'INSERT INTO word_parts (rowid, word) SELECT (id << 32) + words, ? FROM owners WHERE id = ?',
  );
  const count = search.prepare('UPDATE owners SET words = words + 1 WHERE id = ?');
  const isWord = (word: string): boolean =>
    word.length >= MIN_WORD_LENGTH && word.length <= MAX_WORD_LENGTH;
  return {
    put: (owner: number, text: string): void => {
      for (const word of new Set(spacedWords(text.toLowerCase()).filter(isWord))) {
        const key = `${owner} ${word}`;
        if (known.has(key)) continue;
        if (known.size >= MAX_KNOWN) known.clear();
        known.add(key);
        if (insert.run(word, owner).changes === 0) continue;
        insertPart.run(word, owner);
        count.run(owner);
      }
    },
  };
};
