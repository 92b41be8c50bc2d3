import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { migrations } from '../../../migrations/all.js';
import type { Share } from '../../../src/jobs/procedures.js';
import { openWriter } from '../../../src/store/thread/database.js';
import { openScratch, type Scratch } from '../../store/scratch.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const AT = '2026-03-01T12:00:00.000Z';
const LATER = '2026-03-01T13:00:00.000Z';
const OWNER = `INSERT INTO users (id, username, username_key, password_hash, role, created_at)
  VALUES ('user_1', 'ann', 'ann', '', 'user', '${AT}')`;
const hook = (id: string): string => `INSERT INTO hooks (id, user_id, name, trigger, trigger_config,
  action, action_config, enabled, conditions, created_at, updated_at)
  VALUES ('${id}', 'user_1', '${id}', 'webhook', '{}', 'notify', '{}', 1, '[]', '${AT}', '${AT}')`;
const execution = (n: number, status = 'queued'): string => `INSERT INTO executions
  (id, hook_id, user_id, delivery_id, trigger, action, status, created_at)
  VALUES ('execution_${n}', 'hook_1', 'user_1', 'delivery_${n}', 'webhook', 'notify', '${status}',
    '${AT}')`;
const delivery = (n: number, body = '{}'): string => `INSERT INTO deliveries
  (id, path, method, headers, body, received_at)
  VALUES ('delivery_${n}', 'path', 'POST', '{}', '${body}', '${AT}')`;

describe('claimJobs, for executions', () => {
  let scratch: Scratch;
  beforeEach(async () => {
    scratch = await openScratch();
    await run(OWNER, hook('hook_1'));
  });
  afterEach(() => scratch.remove());

  const run = (...statements: string[]) =>
    scratch.store.transact(statements.map((sql) => ({ sql, parameters: [] })));
  const queue = async (n: number, body?: string, runAt = AT): Promise<void> => {
    const due = `UPDATE executions SET run_at = '${runAt}' WHERE id = 'execution_${n}'`;
    await run(delivery(n, body), execution(n), due);
  };
  const claim = async (share: Partial<Share> = {}) => {
    const lanes = [{ lane: 'hook_1', count: 10, isBatch: true, ...share }];
    const found = await scratch.store.call('claimJobs', { boot: 'boot_1', now: AT, lanes });
    return { ...found, refs: found.jobs.map(({ ref }) => ref) };
  };
  const claimed = async () =>
    scratch.store.db.selectFrom('executions').select(['id', 'boot', 'attempts']).execute();

  it('gives each with its hook and its delivery, and marks none of a batch', async () => {
    for (const n of [1, 2]) await queue(n, `{"n":${n}}`);
    const { jobs, dry, mixed } = await claim();
    expect(jobs.map(({ loaded }) => loaded?.delivery?.body)).to.equal(['{"n":1}', '{"n":2}']);
    expect(jobs.map(({ attempts }) => attempts)).to.equal([1, 1]);
    expect(jobs[0]?.loaded?.hook === jobs[1]?.loaded?.hook).to.be.true();
    expect(jobs[0]?.loaded?.hook).to.include({ name: 'hook_1', suspended_at: null });
    expect([dry, mixed]).to.equal([[{ lane: 'hook_1', nextAt: null }], []]);
    expect(await claimed()).to.equal([
      { id: 'execution_1', boot: null, attempts: 0 },
      { id: 'execution_2', boot: null, attempts: 0 },
    ]);
  });

  it('marks each that runs by itself, and gives it to nobody else', async () => {
    for (const n of [1, 2]) await queue(n);
    expect((await claim({ count: 1, isBatch: false })).refs).to.equal(['execution_1']);
    expect(await claimed()).to.equal([
      { id: 'execution_1', boot: 'boot_1', attempts: 1 },
      { id: 'execution_2', boot: null, attempts: 0 },
    ]);
    expect((await claim()).refs).to.equal(['execution_2']);
  });

  it('says when the next is due', async () => {
    await queue(1);
    await queue(2, '{}', LATER);
    await run(`UPDATE executions SET attempts = 1 WHERE id = 'execution_2'`);
    const { refs, dry } = await claim();
    expect(refs).to.equal(['execution_1']);
    expect(dry).to.equal([{ lane: 'hook_1', nextAt: LATER }]);
    expect((await claim({ count: 1 })).dry).to.equal([]);
  });

  it('takes what was never tried although the clock was set back since', async () => {
    await queue(1, '{}', LATER);
    await queue(2);
    expect((await claim()).refs).to.equal(['execution_1', 'execution_2']);
  });

  it('takes 4 MiB of payloads at once, and always one', async () => {
    const mib = (count: number) => `{"t":"${'x'.repeat(count * 1024 * 1024)}"}`;
    for (const [at, body] of [mib(5), mib(2), mib(1), mib(2)].entries()) await queue(at, body);
    const ended = (...refs: string[]) =>
      run(
        `UPDATE executions SET run_at = NULL WHERE id IN (${refs.map((ref) => `'${ref}'`).join()})`,
      );
    const first = await claim();
    expect([first.refs, first.dry]).to.equal([['execution_0'], []]);
    await ended(...first.refs);
    const second = await claim();
    expect([second.refs, second.dry]).to.equal([['execution_1', 'execution_2'], []]);
    await ended(...second.refs);
    expect((await claim()).refs).to.equal(['execution_3']);
  });

  it('takes jobs of agents first, and no batch beside them', async () => {
    await queue(1);
    await run(
      `INSERT INTO jobs (kind, ref, lane, run_at) VALUES ('agent', 'agent_1', 'hook_1', '${AT}')`,
    );
    const { refs, mixed } = await claim();
    expect([refs, mixed]).to.equal([[], ['hook_1']]);
    const single = await claim({ count: 2, isBatch: false });
    expect([single.refs, single.mixed]).to.equal([['agent_1', 'execution_1'], []]);
  });

  it('knows how long the oldest has waited', async () => {
    const oldest = () => scratch.store.look('oldestWait', null);
    expect(await oldest()).to.be.null();
    await run(hook('hook_2'));
    await queue(1, '{}', LATER);
    await queue(2, '{}');
    await run(`UPDATE executions SET hook_id = 'hook_2' WHERE id = 'execution_2'`);
    expect(await oldest()).to.equal(AT);
  });
});

describe('jobs of executions of an earlier schema', () => {
  it('become executions that wait, with their claims and attempts', async () => {
    const home = await mkdtemp(join(tmpdir(), 'adjutant-queue-'));
    const { db } = await openWriter(
      home,
      migrations.filter(({ version }) => version < 340),
    );
    const job = (n: number, boot: string): string => `INSERT INTO jobs
      (kind, ref, lane, run_at, attempts, boot)
      VALUES ('execution', 'execution_${n}', 'hook_1', '${LATER}', ${n}, ${boot})`;
    const all = [
      ...[OWNER, hook('hook_1'), execution(1), execution(2, 'running'), execution(3, 'success')],
      ...[job(1, 'NULL'), job(2, `'boot_0'`)],
      `INSERT INTO jobs (kind, ref, lane, run_at) VALUES ('agent', 'agent_1', 'hook_1', '${AT}')`,
    ];
    for (const sql of all) db.exec(sql);
    db.close();
    const { db: now } = await openWriter(home, migrations);
    const rows = now.prepare('SELECT id, run_at, boot, attempts FROM executions ORDER BY id').all();
    expect(rows).to.equal([
      { id: 'execution_1', run_at: LATER, boot: null, attempts: 1 },
      { id: 'execution_2', run_at: LATER, boot: 'boot_0', attempts: 2 },
      { id: 'execution_3', run_at: null, boot: null, attempts: 0 },
    ]);
    expect(now.prepare('SELECT ref FROM jobs').all()).to.equal([{ ref: 'agent_1' }]);
    now.close();
    await rm(home, { recursive: true, force: true });
  });
});
