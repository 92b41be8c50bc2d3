import { existsSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { getLoadablePath } from 'sqlite-vec';

/**
 * Each embedder has two tables, indexed by chunk ID: vectors, and their signs with one bit per
 * dimension.
 */
const VECTORS = 'vectors_';
const SIGNS = 'signs_';

export interface VectorTables {
  embedder: number;
  vectors: string;
  signs: string;
}

export const getVectorTables = (embedder: number): VectorTables => ({
  embedder,
  vectors: `${VECTORS}${Math.trunc(embedder)}`,
  signs: `${SIGNS}${Math.trunc(embedder)}`,
});

export const vectorTables = (search: Database.Database): VectorTables[] =>
  search
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '${VECTORS}[0-9]*'`,
    )
    .pluck()
    .all()
    .map((name) => getVectorTables(Number(name.slice(VECTORS.length))));

export const createVectorTables = (search: Database.Database, embedder: number): VectorTables => {
  const tables = getVectorTables(embedder);
  search.exec(`
    CREATE TABLE IF NOT EXISTS ${tables.vectors} (id INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS ${tables.signs} (id INTEGER PRIMARY KEY, signs BLOB NOT NULL) STRICT;`);
  return tables;
};

export const dropVectorTables = (search: Database.Database, { vectors, signs }: VectorTables) =>
  search.exec(`DROP TABLE IF EXISTS ${vectors}; DROP TABLE IF EXISTS ${signs};`);

/** Returns false if there is no build for this machine. */
export const loadVectorFunctions = (search: Database.Database): boolean => {
  try {
    search.loadExtension(getLoadablePath());
    return true;
  } catch {
    return false;
  }
};

export const hasVectorFunctions = (): boolean => {
  try {
    return existsSync(getLoadablePath());
  } catch {
    return false;
  }
};

export const computeSignBits = (vector: Uint8Array): Uint8Array => {
  const signs = new Uint8Array(Math.ceil(vector.length / 8));
  vector.forEach((byte, at) => {
    if (byte > 0 && byte < 128) signs[at >> 3] = (signs[at >> 3] ?? 0) | (1 << (at & 7));
  });
  return signs;
};
