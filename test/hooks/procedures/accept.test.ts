import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { migrations } from '../../../migrations/all.js';
import type { Acceptance, InlineEnd } from '../../../src/hooks/procedures/accept.js';
import { UniqueViolation } from '../../../src/store/engine/protocol.js';
import { openStore, type Store } from '../../../src/store/store.js';
import { openWriter } from '../../../src/store/thread/database.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const AT = '2026-03-01T12:00:00.000Z';
const DIGEST = 'ab'.repeat(32);
const OWNER = `INSERT INTO users (id, username, username_key, password_hash, role, created_at)
  VALUES ('user_1', 'ann', 'ann', '', 'user', '${AT}')`;
const hook = (id: string): string => `INSERT INTO hooks (id, user_id, name, trigger, trigger_config,
  action, action_config, enabled, conditions, created_at, updated_at)
  VALUES ('${id}', 'user_1', '${id}', 'webhook', '{}', 'notify', '{}', 1, '[]', '${AT}', '${AT}')`;

const open = (home: string): Promise<Store> =>
  openStore(
    { home, migrations, auditKey: new Uint8Array(32) },
    { lost: () => undefined, audited: () => undefined },
  );

const run = (store: Store, ...statements: string[]) =>
  store.transact(statements.map((sql) => ({ sql, parameters: [] })));

/** The nth delivery to the hooks, under a name of its sender's. */
const delivery = (n: number, senderId: string | null, ...hooks: string[]): Acceptance => [
  [`delivery_${n}`, AT, 'path', 'POST', '{}', '{}', null, null],
  senderId === null ? null : [senderId, DIGEST],
  hooks.map((id) => [id, `execution_${n}_${id}`, false]),
];

describe('acceptDelivery', () => {
  let home: string;
  let store: Store;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-accept-'));
    store = await open(home);
    await run(store, OWNER, hook('hook_1'), hook('hook_2'));
  });
  afterEach(async () => {
    await store.close();
    await rm(home, { recursive: true, force: true });
  });

  const counted = async () => {
    const rows = await store.db.selectFrom('hooks').select(['id', 'executions']).execute();
    return Object.fromEntries(rows.map(({ id, executions }) => [id, executions]));
  };
  const waiting = async () => {
    const all = store.db.selectFrom('executions').select('id').orderBy('id');
    const rows = await all.where('run_at', 'is not', null).execute();
    return rows.map(({ id }) => id);
  };

  it('keeps what comes in together, and counts it', async () => {
    const accepted = await Promise.all([
      store.call('acceptDelivery', delivery(1, null, 'hook_1')),
      store.call('acceptDelivery', delivery(2, null, 'hook_1', 'hook_2')),
      store.call('acceptDelivery', delivery(3, null, 'hook_2')),
    ]);
    expect(accepted).to.equal([
      [[0], null, []],
      [[0, 1], null, []],
      [[0], null, []],
    ]);
    expect(await counted()).to.equal({ hook_1: 2, hook_2: 2 });
    expect(await waiting()).to.equal([
      'execution_1_hook_1',
      'execution_2_hook_1',
      'execution_2_hook_2',
      'execution_3_hook_2',
    ]);
  });

  it('ends one that was prepared, but never before earlier ones of its hook', async () => {
    const { db } = store;
    const prepared = (n: number): Acceptance => {
      const [row, claim] = delivery(n, null);
      const notice = {
        ...{ id: `notification_${n}`, user_id: 'user_1', kind: 'hook_notice' as const },
        ...{ title: 't', body: 'b', link: null, effect_id: null, direct: 0, about: null, hops: 0 },
        markdown: null,
        created_at: AT,
      };
      const end: InlineEnd = [AT, '{}', { notice, isSent: false }];
      return [row, claim, [['hook_1', `execution_${n}_hook_1`, false, end]]];
    };
    const accept = (of: Acceptance) => store.call('acceptDelivery', of);
    expect(await accept(prepared(1))).to.equal([[0], null, [0]]);
    const together = [delivery(2, null, 'hook_1'), prepared(3)].map(accept);
    expect(await Promise.all(together)).to.equal([
      [[0], null, []],
      [[0], null, []],
    ]);
    expect(await accept(prepared(4))).to.equal([[0], null, []]);
    const ends = { status: 'success' as const, run_at: null };
    await db.updateTable('executions').set(ends).execute();
    expect(await accept(prepared(5))).to.equal([[0], null, [0]]);
  });

  it('finds a repeat among what came in with it, for each hook by itself', async () => {
    const accepted = await Promise.all([
      store.call('acceptDelivery', delivery(1, 'same', 'hook_1')),
      store.call('acceptDelivery', delivery(2, 'same', 'hook_1')),
      store.call('acceptDelivery', delivery(3, 'same', 'hook_1', 'hook_2')),
    ]);
    expect(accepted).to.equal([
      [[0], null, []],
      [[], 'delivery_1', []],
      [[1], 'delivery_1', []],
    ]);
    expect(await counted()).to.equal({ hook_1: 1, hook_2: 1 });
  });

  it('loses nothing to one that cannot be kept, and counts nothing twice', async () => {
    const results = await Promise.allSettled([
      store.call('acceptDelivery', delivery(1, null, 'hook_1')),
      store.call('acceptDelivery', delivery(1, null, 'hook_1')),
      store.call('acceptDelivery', delivery(2, null, 'hook_1')),
    ]);
    expect(results.map(({ status }) => status)).to.equal(['fulfilled', 'rejected', 'fulfilled']);
    const [, second] = results;
    expect(second?.status === 'rejected' && second.reason).to.be.an.instanceof(UniqueViolation);
    expect(await counted()).to.equal({ hook_1: 2, hook_2: 0 });
  });

  it('looks at a hook anew after something else was written', async () => {
    const [first, , second] = await Promise.all([
      store.call('acceptDelivery', delivery(1, null, 'hook_1')),
      run(store, `UPDATE hooks SET enabled = 0 WHERE id = 'hook_1'`),
      store.call('acceptDelivery', delivery(2, null, 'hook_1')),
    ]);
    expect([first, second]).to.equal([
      [[0], null, []],
      [[], null, []],
    ]);
    expect(await counted()).to.equal({ hook_1: 1, hook_2: 0 });
  });
});

describe('claims of an earlier schema', () => {
  it('still name a repeat, and go with their hook', async () => {
    const home = await mkdtemp(join(tmpdir(), 'adjutant-claims-'));
    // By itself: today's procedures need the columns of today.
    const { db } = await openWriter(
      home,
      migrations.filter(({ version }) => version < 260),
    );
    const claim = `INSERT INTO delivery_claims
      (hook_id, sender_id, body_digest, execution_id, delivery_id, claimed_at)
      VALUES ('hook_1', 'theirs', '${DIGEST}', 'execution_0', 'delivery_0', '${AT}')`;
    for (const sql of [OWNER, hook('hook_1'), claim]) db.exec(sql);
    db.close();

    const store = await open(home);
    expect(await store.call('acceptDelivery', delivery(1, 'theirs', 'hook_1'))).to.equal([
      [],
      'delivery_0',
      [],
    ]);
    await run(store, `DELETE FROM hooks WHERE id = 'hook_1'`);
    expect(await store.db.selectFrom('delivery_claims').selectAll().execute()).to.equal([]);
    await store.close();
    await rm(home, { recursive: true, force: true });
  });
});
