import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { loadMasterKey } from '../../src/secrets/master.js';
import { SEALED } from '../../src/secrets/sealedcolumns.js';
import { addHook, type Owner, registerOwner } from '../harness/account.js';
import { sign } from '../harness/app.js';
import { type Daemon, startDaemon, startKilled, startRefused } from '../harness/daemon.js';
import { randomFrom } from './random.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const CREDENTIALS = 900;
const HOOKS = 20;
/** Kills that fell between the two files of a change, and the most that are tried for them. */
const CUTS = 4;
const ROUNDS = 60;
const PASSWORD = 'correct horse battery';

describe('a change of the master key that is cut by SIGKILL', () => {
  let home: string;
  let daemon: Daemon;
  let owner: Owner;
  let revealed: string;

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-rekey-'));
    daemon = await startDaemon({ home });
    owner = await registerOwner(daemon.url);
    const made = await Promise.all(
      Array.from({ length: CREDENTIALS }, (_, n) =>
        owner.vault.create({ body: { name: `pat-${n}`, value: `value ${n}` } }),
      ),
    );
    revealed = made[0]?.id ?? '';
    const turned = made.slice(0, 100).map(({ id }) => ({ id, body: { value: 'newer' } }));
    await Promise.all(turned.map((rotation) => owner.vault.rotate(rotation)));
    for (let n = 0; n < HOOKS; n++) {
      const path = `in-${n}`;
      await addHook(owner, {
        ...{ name: path, path, secret: `secret ${n}` },
        ...{ action: 'notify', actionConfig: { notifyMessage: 'x' } },
      });
    }
  });
  after(async () => {
    await daemon.end('SIGKILL');
    await rm(home, { recursive: true });
  });

  const isCut = (): boolean => existsSync(join(home, 'keys', 'master.key.next'));

  /** What all that is sealed holds, by where it lies; throws where a key opens something not. */
  const opened = (): Map<string, string> => {
    const { keyring } = loadMasterKey(home, null);
    const db = new Database(join(home, 'adjutant.db'), { readonly: true });
    const rows = SEALED.flatMap(({ table, key, column, bound, where = '1' }) =>
      db
        .prepare<[], { at: string; sealed: string; bound: string }>(
          `SELECT '${table}.${column} ' || ${key} AS at, ${column} AS sealed, ${bound} AS bound
           FROM ${table} WHERE ${column} IS NOT NULL AND ${where}`,
        )
        .all(),
    );
    db.close();
    return new Map(
      rows.map((row) => [row.at, keyring.unseal(row.bound, row.sealed).toString('base64')]),
    );
  };

  /** One key of two opens a part of it: the start says so before it does anything. */
  const refusesEach = async (): Promise<void> => {
    for (const name of ['master.key', 'master.key.next']) {
      const key = (await readFile(join(home, 'keys', name), 'utf8')).trim();
      const { code, stderr } = await startRefused({ home, env: { ADJUTANT_MASTER_KEY: key } });
      const said = stderr.split(',')[0];
      expect([code, said]).to.equal([1, 'A change of the master key was interrupted']);
    }
  };

  /** Changes the key; resolves to the milliseconds that it took, and for which both files were there. */
  const rekeyed = async (): Promise<{ tookMs: number; bothMs: number }> => {
    const since = performance.now();
    const change = owner.vault.rekey();
    await begun(change);
    const both = performance.now();
    while (isCut()) await nextTurn();
    const bothMs = performance.now() - both;
    await change;
    return { tookMs: performance.now() - since, bothMs };
  };

  /** Resolves when both files are there, or when the change has ended. */
  const begun = async (change: Promise<unknown>): Promise<void> => {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    change.then(over, over);
    while (!isOver && !isCut()) await nextTurn();
  };

  it('loses nothing: every secret opens after each start', async () => {
    const seed = Date.now() % 1_000_000;
    const random = randomFrom(seed);
    const planted = opened();
    expect(planted.size).to.be.above(CREDENTIALS + 100 + HOOKS);
    const { tookMs, bothMs } = await rekeyed();
    let cuts = 0;
    for (let round = 0; round < ROUNDS && cuts < CUTS; round++) {
      const cutting = owner.vault.rekey().catch(() => null);
      // Every third kill comes at any time, and the others while both files are there.
      if (round % 3 === 0) await wait(random() * tookMs);
      else await begun(cutting).then(() => wait(random() * bothMs));
      await daemon.end('SIGKILL');
      await cutting;
      if (isCut()) {
        cuts++;
        if (cuts === 1) await refusesEach();
        // What goes on at the next start may be cut there again.
        await startKilled({ home }, random() * daemon.readyMs);
      }
      expect(opened(), `seed ${seed}, round ${round}, killed`).to.equal(planted);
      daemon = await startDaemon({ home });
      owner = owner.with({ url: daemon.url });
      expect(isCut()).to.be.false();
      expect(opened(), `seed ${seed}, round ${round}, started`).to.equal(planted);
    }
    expect(cuts, `seed ${seed}`).to.equal(CUTS);
    await works();
  });

  const works = async (): Promise<void> => {
    const body = '{"n":1}';
    const delivered = await fetch(`${daemon.url}/api/webhooks/in-7`, {
      ...{ method: 'POST', body },
      headers: {
        'content-type': 'application/json',
        'x-hub-signature-256': sign('secret 7', body),
      },
    });
    expect(delivered.status).to.equal(202);
    const { value } = await owner.vault.reveal({ id: revealed, body: { password: PASSWORD } });
    expect(value).to.equal('newer');
    expect((await owner.audit.verify()).ok).to.be.true();
  };
});
