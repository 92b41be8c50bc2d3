import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations } from '../../migrations/all.js';
import { openStore, type Store } from '../../src/store/store.js';

export interface Scratch {
  home: string;
  store: Store;
  /** What the store said when a thread ended by itself. */
  lost: Error[];
  remove(): Promise<void>;
}

/** A store with the real schema in a folder of its own. */
export const openScratch = async (): Promise<Scratch> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-store-'));
  const lost: Error[] = [];
  const store = await openStore(
    { home, migrations, auditKey: new Uint8Array(32) },
    { lost: (error) => lost.push(error), audited: () => undefined },
  );
  return {
    home,
    store,
    lost,
    remove: async () => {
      await store.close();
      await rm(home, { recursive: true, force: true });
    },
  };
};

/** A fact is the plainest row that there is. */
export const putFact = (name: string, value: string) => ({
  sql: 'INSERT INTO facts (name, value) VALUES (?, ?)',
  parameters: [name, value],
  expect: 1,
});
