import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../../harness/app.js';
import { openScratch } from '../scratch.js';

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

  it('begins the log anew in the space that it had', async () => {
    const { home, store, remove } = await openScratch();
    const log = join(home, 'adjutant.db-wal');
    const write = (names: string[], value: string) =>
      store.transact(
        names.map((name) => ({
          sql: `INSERT INTO facts (name, value) VALUES (?, ?)
            ON CONFLICT DO UPDATE SET value = excluded.value`,
          parameters: [name, value],
        })),
      );
    const names = Array.from({ length: 512 }, (_, n) => `${n}`);
    await write(names, 'x'.repeat(64 * 1024));
    const { size } = await stat(log);
    expect(size / MEGABYTE).to.be.above(32);
    const begun = await timesBegun(log);
    let last = 0;
    await until(
      async () => {
        await write(['last'], `${++last}`);
        return timesBegun(log);
      },
      (times) => times > begun,
    );
    expect((await stat(log)).size).to.be.at.least(size);
    await remove();
  });
});

/** The checkpoint sequence number in the head of the log (sqlite.org/fileformat2.html, 4.1). */
const timesBegun = async (log: string): Promise<number> => {
  const file = await open(log);
  const { buffer } = await file.read(Buffer.alloc(16), 0, 16, 0);
  await file.close();
  return buffer.readUInt32BE(12);
};
