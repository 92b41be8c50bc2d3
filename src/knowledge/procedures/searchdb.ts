import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { makePrivate } from '../../kernel/private.js';
import { loadVectorFunctions } from './vectors.js';
import { TOKENIZER } from './words.js';

/** Derived from the main database. It can be deleted at any time. */
const FILE = 'search.db';
const MAIN = 'adjutant.db';
/** Version of the index format. An index with another version is rebuilt. */
const FORMAT_VERSION = 7;
/** A smaller index is checked when it is opened. */
const CHECKED_BYTES = 16 * 1024 * 1024;

/**
 * The IDs of an owner's chunks and words form a range: the owner's ID times 2^32, plus a number. So
 * a search reads only data of its owner. Owner IDs are not reused, because threads cache counts by
 * them. Words of chunks are in tables per owner (`createOwnerTables`).
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

export const ownerTables = (owner: number) => ({
  words: `chunk_words_${owner}`,
  counts: `word_counts_${owner}`,
});

/**
 * Each owner has separate tables, because the BM25 rank depends on the word counts of the whole
 * table. A shared table would leak information about other owners.
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

/** Also clears cached words. */
export const dropOwner = (search: Database.Database, owner: number): void => {
  const { words, counts } = ownerTables(owner);
  search.exec(`DROP TABLE IF EXISTS ${counts}; DROP TABLE IF EXISTS ${words};`);
  const of = { owner };
  search.prepare(`DELETE FROM word_parts WHERE ${ownerRange('rowid')}`).run(of);
  search.prepare(`DELETE FROM vocabulary WHERE ${ownerRange('id')}`).run(of);
  search.prepare('DELETE FROM owners WHERE id = @owner').run(of);
};

export const ownerRange = (rowid: string): string =>
  `${rowid} BETWEEN (@owner << 32) AND (@owner << 32) + 4294967295`;

export const oncePerDatabase = <T>(make: (database: Database.Database) => T) => {
  const cache = new WeakMap<Database.Database, T>();
  return (database: Database.Database): T => {
    const known = cache.get(database) ?? make(database);
    cache.set(database, known);
    return known;
  };
};

export interface SearchDatabases {
  search: Database.Database;
  main: Database.Database;
  /** Identifies the file. Another file may have replaced it. */
  inode: number;
  comparesVectors: boolean;
}

/** Rebuilds a missing or damaged index. */
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

/** Returns null if there is no index in the current format. */
export const openToSearch = (home: string): SearchDatabases | null => {
  const path = join(home, FILE);
  const inode = indexInode(home);
  if (inode === null) return null;
  const search = new Database(path, { timeout: 2000, fileMustExist: true });
  if (search.pragma('user_version', { simple: true }) !== FORMAT_VERSION) {
    search.close();
    return null;
  }
  search.pragma('query_only = ON');
  search.pragma('cache_size = -32000');
  search.pragma('mmap_size = 268435456');
  const comparesVectors = loadVectorFunctions(search);
  return { search, main: openMain(home), inode, comparesVectors };
};

export const indexInode = (home: string): number | null =>
  statSync(join(home, FILE), { throwIfNoEntry: false })?.ino ?? null;

/** Open handles stay readable until they are closed. */
export const removeIndex = (home: string): void => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(home, FILE + suffix), { force: true });
};

export const isDamage = (error: unknown): boolean =>
  error instanceof Database.SqliteError && /CORRUPT|NOTADB/.test(error.code);

const openMain = (home: string): Database.Database => {
  const main = new Database(join(home, MAIN), { timeout: 2000, fileMustExist: true });
  main.pragma('query_only = ON');
  main.pragma('mmap_size = 268435456');
  return main;
};

const tryOpen = (path: string): Database.Database | null => {
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size === 0) return null;
  const search = new Database(path, { timeout: 2000 });
  try {
    setPragmas(search);
    const form = search.pragma('user_version', { simple: true });
    const isWhole =
      size >= CHECKED_BYTES || search.pragma('quick_check(1)', { simple: true }) === 'ok';
    if (form === FORMAT_VERSION && isWhole) return search;
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
  search.exec(`BEGIN; ${SCHEMA} PRAGMA user_version = ${FORMAT_VERSION}; COMMIT`);
  return search;
};

const setPragmas = (search: Database.Database): void => {
  search.pragma('journal_mode = WAL');
  search.pragma('synchronous = NORMAL');
  search.pragma('cache_size = -32000');
};
