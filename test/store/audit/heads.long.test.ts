import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
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
  const numbers = async () =>
    (await ledger.heads()).map((line) => Number(/^(\d+) [0-9a-f]{64}$/.exec(line)?.[1]));
  const lastReport = () => ledger.reports.at(-1);
  /** What the next opening says. */
  const reopened = async () => {
    await ledger.tamper(nothing);
    return lastReport()?.problem;
  };

  it('agrees with the database whenever the daemon is killed', async () => {
    for (let kill = 0; kill < 8; kill++) {
      await ledger.store.close();
      await writeUntilKilled(ledger.home, 40 + kill * 7);
      expect(await reopened()).to.be.null();
      const check = await ledger.store.look('contradictedHeads', { place: 0, from: 0 });
      expect(check).to.equal({ name: 'audit.head', heads: [], failure: null, next: null });
    }
    const { number } = await ledger.store.db
      .selectFrom('audit')
      .select('number')
      .orderBy('number', 'desc')
      .executeTakeFirstOrThrow();
    expect(number > 8).to.be.true();
    expect((await numbers()).at(-1)).to.equal(number);
  });
});

const SCRIBE = fileURLToPath(new URL('./scribe.js', import.meta.url));

/** A process that writes to the log of a home until it is killed, so long after its first entry. */
const writeUntilKilled = async (home: string, ms: number): Promise<void> => {
  const child = spawn(process.execPath, [SCRIBE, home], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  setTimeout(() => child.kill('SIGKILL'), ms);
  await once(child, 'exit');
};
