import { existsSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { getLoadablePath } from 'sqlite-vec';

/**
 * Each embedder has two tables by the ids of chunks, so that what an owner has is a range of each: its
 * vectors, and their signs, one bit a dimension.
 */
const VECTORS = 'vectors_';
const SIGNS = 'signs_';

/** The tables of one embedder. */
export interface VectorTables {
  embedder: number;
  vectors: string;
  signs: string;
}

/** Returns the names of the tables of an embedder. */
export const tablesOf = (embedder: number): VectorTables => ({
  embedder,
  vectors: `${VECTORS}${Math.trunc(embedder)}`,
  signs: `${SIGNS}${Math.trunc(embedder)}`,
});

/** Returns the tables that there are. */
export const vectorTables = (search: Database.Database): VectorTables[] =>
  search
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '${VECTORS}[0-9]*'`,
    )
    .pluck()
    .all()
    .map((name) => tablesOf(Number(name.slice(VECTORS.length))));

/** Makes the tables of an embedder, unless they are there. */
export const createVectorTables = (search: Database.Database, embedder: number): VectorTables => {
  const tables = tablesOf(embedder);
  search.exec(`
    CREATE TABLE IF NOT EXISTS ${tables.vectors} (id INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS ${tables.signs} (id INTEGER PRIMARY KEY, signs BLOB NOT NULL) STRICT;`);
  return tables;
};

/** Drops the tables of an embedder. */
export const dropVectorTables = (search: Database.Database, { vectors, signs }: VectorTables) =>
  search.exec(`DROP TABLE IF EXISTS ${vectors}; DROP TABLE IF EXISTS ${signs};`);

/** Loads the functions that compare vectors. Returns false where there are none for this machine. */
export const loadVectorFunctions = (search: Database.Database): boolean => {
  try {
    search.loadExtension(getLoadablePath());
    return true;
  } catch {
    return false;
  }
};

/** Returns true if there is a build of those functions for this machine. */
export const hasVectorFunctions = (): boolean => {
  try {
    return existsSync(getLoadablePath());
  } catch {
    return false;
  }
};

/** Returns the signs of a vector with one byte a dimension, filled up to whole bytes. */
export const signsOf = (vector: Uint8Array): Uint8Array => {
  const signs = new Uint8Array(Math.ceil(vector.length / 8));
  vector.forEach((byte, at) => {
    if (byte > 0 && byte < 128) signs[at >> 3] = (signs[at >> 3] ?? 0) | (1 << (at & 7));
  });
  return signs;
};
