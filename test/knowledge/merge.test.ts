import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { mergeWords } from '../../src/knowledge/procedures/merge.js';
import {
  createOwnerTables,
  openToWrite,
  ownerTables,
  type SearchDatabases,
} from '../../src/knowledge/procedures/searchdb.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('the merge of words', () => {
  let home: string;
  let databases: SearchDatabases;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-merge-'));
    new Database(join(home, 'adjutant.db')).close();
    databases = openToWrite(home);
  });
  after(async () => {
    databases.search.close();
    databases.main.close();
    await rm(home, { recursive: true });
  });

  const { words } = ownerTables(1);
  /** Writes chunks of the owner in transactions of 100, so that segments remain. */
  const writeChunks = (count: number): void => {
    const { search } = databases;
    search.prepare(`INSERT OR IGNORE INTO owners (id, user_id) VALUES (1, 'user')`).run();
    createOwnerTables(search, 1);
    const insert = search.prepare(`INSERT INTO ${words} (title, words, grams) VALUES ('', ?, '')`);
    for (let from = 0; from < count; from += 100) {
      search.transaction(() => {
        for (let at = from; at < from + 100; at++) insert.run(`common word${at}`);
        search.exec('UPDATE owners SET made = made + 100, chunks = chunks + 100');
      })();
    }
  };
  const segments = (): number =>
    databases.search
      .prepare<[], number>(`SELECT count(DISTINCT segid) FROM ${words}_idx`)
      .pluck()
      .get() ?? 0;
  const found = (word: string): number =>
    databases.search
      .prepare<[string], number>(`SELECT count(*) FROM ${words} WHERE ${words} MATCH ?`)
      .pluck()
      .get(word) ?? 0;
  const mergeAll = (): void => {
    while (mergeWords(databases.search));
  };

  it('leaves few chunks as they are', () => {
    writeChunks(1900);
    const before = segments();
    mergeAll();
    expect(segments()).to.equal(before);
    expect(before).to.be.above(1);
  });

  it('makes one segment of many, and loses nothing', () => {
    writeChunks(1100);
    expect(segments()).to.be.above(1);
    mergeAll();
    expect(segments()).to.equal(1);
    expect([found('common'), found('word7')]).to.equal([3000, 2]);
  });

  it('begins again only when many chunks were written since', () => {
    writeChunks(1000);
    mergeAll();
    expect(segments()).to.be.above(1);
  });
});
