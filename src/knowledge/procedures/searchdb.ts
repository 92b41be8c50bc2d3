import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { makePrivate } from '../../kernel/private.js';
import { loadVectorFunctions } from './vectors.js';
import { TOKENIZER } from './words.js';

/** The index, which is made of the main database and can be lost without loss. */
const FILE = 'search.db';
/** The main database, of which the texts are read. */
const MAIN = 'adjutant.db';
/** Counts the forms of the index: one of another form is made anew. */
const FORM = 7;
/** An index below this size is checked when it is opened. */
const CHECKED_BYTES = 16 * 1024 * 1024;

/**
 * The schema. The IDs of the chunks and words of an owner are a range of their own: the owner's ID
 * times 2^32, and a number. So a search reads no more of the index than what is the owner's. An
 * owner's ID is not used again, since threads remember what they counted by it. The
 * words of the chunks are in tables of the owner (`createOwnerTables`).
 */
const SCHEMA = `
CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE owners (
  id INTEGER PRIMARY KEY AUTOINCREMENT, user_id TEXT NOT NULL UNIQUE,
  chunks INTEGER NOT NULL DEFAULT 0, words INTEGER NOT NULL DEFAULT 0,
  made INTEGER NOT NULL DEFAULT 0, merged INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE entries (
  id INTEGER PRIMARY KEY, entry_id TEXT NOT NULL UNIQUE, owner INTEGER NOT NULL,
  source_type TEXT NOT NULL, trust TEXT NOT NULL, tags TEXT NOT NULL, created_at TEXT NOT NULL
) STRICT;
CREATE INDEX entries_by_owner ON entries (owner);
CREATE TABLE chunks (
  id INTEGER PRIMARY KEY, entry INTEGER NOT NULL, number INTEGER NOT NULL
) STRICT;
CREATE INDEX chunks_by_entry ON chunks (entry);
CREATE TABLE vocabulary (
  id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, word TEXT NOT NULL, UNIQUE (owner, word)
) STRICT;
CREATE VIRTUAL TABLE word_parts USING fts5(
  word, content = '', contentless_delete = 1, tokenize = 'trigram'
);
`;

/** Names the tables of the words of an owner's chunks, and of how often each word stands there. */
export const ownerTables = (owner: number) => ({
  words: `chunk_words_${owner}`,
  counts: `word_counts_${owner}`,
});

/**
 * Creates the tables of an owner unless they exist. Each owner has tables of their own, because the
 * rank of a hit depends on how often its words stand in the whole table: in a shared one it would
 * tell what others have.
 */
export const createOwnerTables = (search: Database.Database, owner: number): void => {
  const { words, counts } = ownerTables(owner);
  search.exec(`
    CREATE VIRTUAL TABLE IF NOT EXISTS ${words} USING fts5(
      title, words, grams, content = '', contentless_delete = 1, tokenize = "${TOKENIZER}"
    );
    CREATE VIRTUAL TABLE IF NOT EXISTS ${counts} USING fts5vocab(${words}, row);
  `);
};

/** Drops the tables of an owner, and all words that are known of them. */
export const dropOwner = (search: Database.Database, owner: number): void => {
  const { words, counts } = ownerTables(owner);
  search.exec(`DROP TABLE IF EXISTS ${counts}; DROP TABLE IF EXISTS ${words};`);
  const of = { owner };
  search.prepare(`DELETE FROM word_parts WHERE ${ofOwner('rowid')}`).run(of);
  search.prepare(`DELETE FROM vocabulary WHERE ${ofOwner('id')}`).run(of);
  search.prepare('DELETE FROM owners WHERE id = @owner').run(of);
};

/** Builds the condition that a row of a table of the index is of the owner `@owner`. */
export const ofOwner = (rowid: string): string =>
  `${rowid} BETWEEN (@owner << 32) AND (@owner << 32) + 4294967295`;

/** Returns a function that makes something once for each database, as long as that is open. */
export const oncePerDatabase = <T>(make: (database: Database.Database) => T) => {
  const made = new WeakMap<Database.Database, T>();
  return (database: Database.Database): T => {
    const known = made.get(database) ?? make(database);
    made.set(database, known);
    return known;
  };
};

/** The index and the main database, opened in a thread. */
export interface SearchDatabases {
  search: Database.Database;
  main: Database.Database;
  /** Identifies the file of the index: another one may have taken its place. */
  inode: number;
  /** True if vectors can be compared here. */
  comparesVectors: boolean;
}

/** Opens both for the thread that writes the index. A missing or damaged index is made anew. */
export const openToWrite = (home: string): SearchDatabases => {
  const path = join(home, FILE);
  let search = tryOpen(path);
  if (!search) {
    removeIndex(home);
    search = create(path);
  }
  const { ino: inode } = statSync(path);
  return { search, main: openMain(home), inode, comparesVectors: false };
};

/** Opens both for searches. Returns null if there is no index, or none of the present form yet. */
export const openToSearch = (home: string): SearchDatabases | null => {
  const path = join(home, FILE);
  const inode = indexInode(home);
  if (inode === null) return null;
  const search = new Database(path, { timeout: 2000, fileMustExist: true });
  if (search.pragma('user_version', { simple: true }) !== FORM) {
    search.close();
    return null;
  }
  search.pragma('query_only = ON');
  search.pragma('cache_size = -32000');
  search.pragma('mmap_size = 268435456');
  const comparesVectors = loadVectorFunctions(search);
  return { search, main: openMain(home), inode, comparesVectors };
};

/** Returns what identifies the file of the index; null if there is none. */
export const indexInode = (home: string): number | null =>
  statSync(join(home, FILE), { throwIfNoEntry: false })?.ino ?? null;

/** Removes the index. What is open of it stays readable until it is closed. */
export const removeIndex = (home: string): void => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(home, FILE + suffix), { force: true });
};

/** True for the error of a damaged file. */
export const isDamage = (error: unknown): boolean =>
  error instanceof Database.SqliteError && /CORRUPT|NOTADB/.test(error.code);

const openMain = (home: string): Database.Database => {
  const main = new Database(join(home, MAIN), { timeout: 2000, fileMustExist: true });
  main.pragma('query_only = ON');
  main.pragma('mmap_size = 268435456');
  return main;
};

/** Opens an index that is whole and has the present form. */
const tryOpen = (path: string): Database.Database | null => {
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size === 0) return null;
  const search = new Database(path, { timeout: 2000 });
  try {
    setPragmas(search);
    const form = search.pragma('user_version', { simple: true });
    const isWhole =
      size >= CHECKED_BYTES || search.pragma('quick_check(1)', { simple: true }) === 'ok';
    if (form === FORM && isWhole) return search;
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  search.close();
  return null;
};

const create = (path: string): Database.Database => {
  makePrivate(path);
  const search = new Database(path, { timeout: 2000 });
  setPragmas(search);
  search.exec(`BEGIN; ${SCHEMA} PRAGMA user_version = ${FORM}; COMMIT`);
  return search;
};

const setPragmas = (search: Database.Database): void => {
  search.pragma('journal_mode = WAL');
  search.pragma('synchronous = NORMAL');
  search.pragma('cache_size = -32000');
};
