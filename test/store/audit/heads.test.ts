import { appendFile, chmod, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Ledger, openLedger } from './ledger.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const nothing = (): void => undefined;

describe('audit.head', () => {
  let ledger: Ledger;
  beforeEach(async () => {
    ledger = await openLedger();
  });
  afterEach(() => ledger.remove());

  const file = () => join(ledger.home, 'audit.head');
  const numbers = async () =>
    (await ledger.heads()).map((line) => Number(/^(\d+) [0-9a-f]{64}$/.exec(line)?.[1]));
  const lastReport = () => ledger.reports.at(-1);
  /** What the next opening says. */
  const reopened = async () => {
    await ledger.tamper(nothing);
    return lastReport()?.problem;
  };

  it('is there before the first entry, for its owner alone', async () => {
    const { mode, size } = await stat(file());
    expect([mode & 0o777, size]).to.equal([0o600, 0]);
    await ledger.write(1);
    await chmod(file(), 0o644);
    await reopened();
    expect((await stat(file())).mode & 0o777).to.equal(0o600);
  });

  it('has a line for each commit that wrote to the log', async () => {
    await ledger.write(2);
    await ledger.store.transact([]);
    await Promise.all([ledger.write(1), ledger.write(1)]);
    expect(await numbers()).to.equal([1, 2, 4]);
    const line = (await ledger.heads()).at(-1);
    const head = lastReport()?.head;
    expect(line).to.equal(`${head?.number} ${head?.mac}`);
  });

  it('is healed of what a crash kept from it', async () => {
    await ledger.write(4);
    const lines = await ledger.heads();
    for (const left of [`${lines[0]}\n`, `${lines[0]}\n${lines[1]?.slice(0, 20)}`]) {
      await ledger.store.close();
      await writeFile(file(), left);
      expect(await reopened()).to.be.null();
      expect((await numbers()).at(-1)).to.equal(4);
    }
    await ledger.write(1);
    expect((await numbers()).slice(-2)).to.equal([4, 5]);
  });

  it('says at each opening that entries were cut, however much is written since', async () => {
    await ledger.write(5);
    await ledger.tamper((db) => db.exec('DELETE FROM audit WHERE number > 3'));
    expect(lastReport()?.problem).to.equal(
      'audit.head knows entry 4, and the database ends at 3: entries were cut',
    );
    await ledger.write(2500);
    const anew =
      'audit.head knows another entry 4 than the database: entries were cut or rewritten';
    expect(await reopened()).to.equal(anew);
    await ledger.write(1);
    expect(await reopened()).to.equal(anew);
    expect((await ledger.heads()).length).to.be.below(2100);
  });

  it('keeps the newest thousand at least, and at most two', async () => {
    await ledger.write(2100);
    const kept = await numbers();
    expect(kept.at(-1)).to.equal(2100);
    expect(kept.length).to.be.within(1000, 2000);
    expect(await reopened()).to.be.null();
  });

  it('says that it is gone, and begins anew', async () => {
    await ledger.write(2);
    await ledger.store.close();
    await rm(file());
    expect(await reopened()).to.equal(
      'audit.head is gone: nobody can tell whether the newest entries were cut',
    );
    // Entry 3 says so.
    expect(await numbers()).to.equal([3]);
    expect(await reopened()).to.equal(
      'audit.head was gone before entry 3 was written: nobody can tell whether the newest entries were cut',
    );
    expect(await numbers()).to.equal([3]);
  });

  it('does not stand in the way where it cannot be written', async () => {
    await ledger.write(1);
    await ledger.store.close();
    await rm(file());
    await mkdir(file());
    expect(await reopened()).to.match(/^audit.head cannot be read: EISDIR/);
    await ledger.write(1);
    await rm(file(), { recursive: true });
    await ledger.write(1);
    // Entry 3 found it gone, and entry 4 says so.
    expect(await numbers()).to.equal([4]);
  });

  it('says once that it cannot be written, and goes on saying the head', async () => {
    await ledger.write(1);
    await rm(file());
    await mkdir(file());
    const before = ledger.reports.length;
    await ledger.write(2);
    await ledger.store.transact([]);
    await rm(file(), { recursive: true });
    await ledger.write(1);
    const told = ledger.reports.slice(before).map(({ head, problem }) => [head?.number, problem]);
    const [, problem] = told[0] ?? [];
    expect(problem).to.match(/^audit.head cannot be written: EISDIR/);
    expect(told).to.equal([
      [2, problem],
      [3, null],
      // Entry 4 found it gone, and entry 5 says so.
      [5, null],
    ]);
    expect(await numbers()).to.equal([1, 5]);
  });

  it('ignores what is no line of it', async () => {
    await ledger.write(1);
    await ledger.store.close();
    await appendFile(file(), `\n\u0000\u0000\n99 short\n-1 ${'0'.repeat(64)}\n`);
    expect(await reopened()).to.be.null();
    await ledger.write(1);
    expect(await numbers()).to.equal([1, 2]);
  });
});
