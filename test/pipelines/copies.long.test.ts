import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { restoreFile } from '../../src/backup.js';
import { createClient } from '../../src/client/index.js';
import { PASSWORD, until } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('a copy of the database that goes on elsewhere', () => {
  let home: string;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-test-'));
  });
  after(() => rm(home, { recursive: true, force: true }));

  it('goes on with no run and fires no recurring task until it is told to', async () => {
    const first = join(home, 'first');
    const second = join(home, 'second');
    let daemon = await startDaemon({ home: first });
    const { token } = await createClient({ url: daemon.url }).auth.register({
      body: { username: 'ada', password: PASSWORD },
    });
    const client = () => createClient({ url: daemon.url, token });
    const ask = { key: 'ask', kind: 'approval' as const, config: { message: 'Go on?' } };
    const stage = { kind: 'tool' as const, config: { toolId: 'time', toolAction: 'now' } };
    const each = { key: 'each', kind: 'foreach' as const, needs: ['ask'] };
    const { id: templateId } = await client().templates.create({
      body: { name: 'N', stages: [ask, { ...each, config: { items: [1, 2], stage } }] },
    });
    const run = await client().pipelines.start({ body: { templateId } });
    const recurring = await client().recurring.create({
      body: { title: 'r', schedule: { cron: '0 3 * * *' }, action: 'create_task' },
    });
    const passphrase = 'a passphrase for keys';
    const { id } = await client().backups.create({ body: { passphrase, folder: home } });
    const { file } = await until(
      () => client().backups.get({ id }),
      ({ status }) => status === 'done',
    );
    await daemon.end('SIGTERM');
    await restoreFile({ home: second, file, passphrase }, () => undefined).done;
    daemon = await startDaemon({ home: second });
    const copied = await client().pipelines.get({ id: run.id });
    expect([copied.status, copied.stages.map(({ status }) => status)]).to.equal([
      'stopped',
      ['stopped', 'stopped'],
    ]);
    const kept = await client().recurring.get({ id: recurring.id });
    expect([kept.enabled, kept.nextRunAt]).to.equal([false, null]);
    const again = await client().pipelines.retry({ id: run.id, body: {} });
    expect(again.status).to.equal('waiting');
    await daemon.end('SIGTERM');
  });
});
