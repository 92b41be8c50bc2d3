import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { renameDurably } from '../../kernel/durable.js';
import { makePrivate, makePrivateFolder } from '../../kernel/private.js';

export interface Snapshot {
  name: string;
  file: string;
  bytes: number;
  madeAtMs: number;
}

const FILE = /^before-\d+\.db$/;
const KEPT = 3;

const folderIn = (home: string): string => join(home, 'snapshots');

/** Online backup. Keeps the newest three. */
export const makeSnapshot = async (
  db: Database.Database,
  home: string,
  schema: number,
): Promise<string> => {
  const folder = folderIn(home);
  makePrivateFolder(folder);
  const name = `before-${schema}.db`;
  // A full disk must not leave an incomplete snapshot.
  const part = join(folder, `${name}.part`);
  try {
    makePrivate(part);
    await db.backup(part);
    renameDurably(part, join(folder, name));
  } finally {
    for (const each of [part, `${part}-journal`]) rmSync(each, { force: true });
  }
  for (const { file } of listSnapshots(home).slice(KEPT)) rmSync(file);
  return name;
};

export const listSnapshots = (home: string): Snapshot[] => {
  const folder = folderIn(home);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((entry) => FILE.test(entry))
    .map((entry) => {
      const file = join(folder, entry);
      const { size, mtimeMs } = statSync(file);
      return { name: entry.replace(/\.db$/, ''), file, bytes: size, madeAtMs: mtimeMs };
    })
    .sort((a, b) => b.madeAtMs - a.madeAtMs);
};
