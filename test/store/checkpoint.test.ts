import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openScratch } from './scratch.js';

export const lab = Lab.script();
const { describe, it } = lab;

const MEGABYTE = 1024 * 1024;

describe('checkpoint', () => {
  it('keeps the log within bounds under load that never pauses', async () => {
    const { home, store, remove } = await openScratch();
    const body = 'x'.repeat(64 * 1024);
    const sql = `INSERT INTO facts (name, value) VALUES (?, ?)
      ON CONFLICT DO UPDATE SET value = excluded.value`;
    let largest = 0;
    const write = async (writer: number): Promise<void> => {
      for (let n = 0; n < 1000; n++) {
        await store.transact([{ sql, parameters: [`${writer}-${n % 20}`, body] }]);
        const { size } = await stat(join(home, 'adjutant.db-wal'));
        largest = Math.max(largest, size);
      }
    };
    // 250 MB in all, in four loops so that there is always something on its way.
    await Promise.all([0, 1, 2, 3].map(write));
    expect(largest / MEGABYTE).to.be.below(128);
    await remove();
  });
});
