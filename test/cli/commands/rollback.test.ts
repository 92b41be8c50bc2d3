import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { addHook, deliver, openStage, type Stage } from '../../system/backup/stage.js';
import { adjutant } from '../harness.js';

export const lab = Lab.script();
const { after, afterEach, before, beforeEach, describe, it } = lab;

describe('rollback', () => {
  let stage: Stage;
  let home: string;
  let kept: string;

  /** A home as it was before an upgrade, then two deliveries more. Each case gets a copy. */
  before(async () => {
    stage = await openStage();
    ({ home } = stage.app);
    await addHook(stage, 'in');
    const nightly = { trigger: 'schedule', triggerConfig: { cron: '0 3 * * *' } };
    await addHook(stage, 'nightly', { ...nightly, name: 'nightly' });
    await deliver(stage.app.url, 'in', 1);
    await stage.app.app.close();
    await mkdir(join(home, 'snapshots'));
    await cp(join(home, 'adjutant.db'), join(home, 'snapshots/before-250.db'));
    await stage.app.restart();
    await deliver(stage.app.url, 'in', 2);
    await deliver(stage.app.url, 'in', 3);
    await stage.app.app.close();
    kept = join(stage.folder, 'home');
    await cp(home, kept, { recursive: true });
  });
  after(() => stage.stop());
  beforeEach(async () => {
    await rm(home, { recursive: true });
    await cp(kept, home, { recursive: true });
  });
  afterEach(() => stage.app.app.close());

  const rollback = (...words: string[]) => adjutant(['rollback', ...words, '--home', home]);
  const bodies = (file: string): string[] => {
    const db = new Database(file, { readonly: true });
    const found = db.prepare<[], string>('SELECT body FROM deliveries ORDER BY id').pluck().all();
    db.close();
    return found;
  };
  const current = () => bodies(join(home, 'adjutant.db'));

  it('goes back, keeps the newer database, and writes what it drops to a file', async () => {
    const { code, stderr } = await rollback('before-250', '--yes', '--output', 'table');
    expect([code, stderr.includes('It drops 2 acknowledged deliveries')]).to.equal([0, true]);
    expect(current()).to.equal(['{"n":1}']);
    const [newer = ''] = readdirSync(join(home, 'aside')).filter((name) => name.endsWith('.db'));
    expect(bodies(join(home, 'aside', newer))).to.equal(['{"n":1}', '{"n":2}', '{"n":3}']);
    const [file = ''] = readdirSync(home).filter((name) => name.startsWith('dropped-'));
    const lines = readFileSync(join(home, file), 'utf8').trim().split('\n');
    const dropped = lines.map((line) => JSON.parse(line));
    expect(dropped.map(({ body, path, method }) => [body, path, method])).to.equal([
      ['{"n":2}', 'in', 'POST'],
      ['{"n":3}', 'in', 'POST'],
    ]);
    expect(dropped[0].headers['content-type']).to.equal('application/json');
    expect(dropped[0].executions.length).to.equal(1);
  });

  it('leaves a head where all that were kept are of what it drops', async () => {
    await stage.app.restart();
    await stage.app.call('GET', '/api/admin/users', { token: stage.token });
    await stage.app.app.close();
    const heads = join(home, 'audit.head');
    await writeFile(heads, `${readFileSync(heads, 'utf8').trim().split('\n').at(-1)}\n`);
    await rollback('--yes');
    await stage.app.restart();
    const { token } = stage;
    const { body } = await stage.app.call('GET', '/api/admin/audit/verify', { token });
    expect(body.problem).to.equal(null);
  });

  it('leaves a home that starts, whose audit log holds and tells of it', async () => {
    await rollback('--yes');
    await stage.app.restart();
    const get = async (path: string) =>
      (await stage.app.call('GET', path, { token: stage.token })).body;
    expect((await get('/api/admin/audit/verify')).problem).to.equal(null);
    const { entries } = await get('/api/admin/audit?action=rollback');
    expect([entries[0].actorId, entries[0].target, entries[0].data.deliveries]).to.equal([
      'operator',
      'before-250',
      2,
    ]);
    const { hooks } = await get('/api/hooks');
    const nightly = hooks.find(({ name }: { name: string }) => name === 'nightly');
    expect(nightly.enabled).to.be.false();
  });

  it('asks first', async () => {
    const { code, stderr } = await rollback();
    expect([code, stderr.includes('Add --yes')]).to.equal([2, true]);
    expect(current().length).to.equal(3);
    expect(existsSync(join(home, 'aside'))).to.be.false();
  });

  it('refuses while a daemon runs, without a snapshot, and a damaged one', async () => {
    const none = await rollback('before-9', '--yes');
    expect([none.code, none.stderr]).to.equal([
      1,
      `Not rolled back: There is no such snapshot in ${home}. Available snapshots: before-250.\n`,
    ]);
    const file = join(home, 'snapshots/before-250.db');
    const bytes = readFileSync(file);
    await writeFile(file, Buffer.from(bytes).fill(0xaa, 4096 * 3, 4096 * 9));
    expect((await rollback('--yes')).stderr).to.contain('before-250 is damaged');
    await writeFile(file, bytes);
    await stage.app.restart();
    expect((await rollback('--yes')).stderr).to.equal(
      `Not rolled back: Another Adjutant already uses the home folder ${home}.\n` +
        `Stop it first: adjutant down --home ${home}\n`,
    );
  });

  it('refuses a snapshot that the master key of now does not open', async () => {
    await writeFile(join(home, 'keys/master.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`);
    expect((await rollback('--yes')).stderr).to.contain(
      'The current master key cannot decrypt the secrets in the snapshot before-250',
    );
    expect(current().length).to.equal(3);
  });
});
