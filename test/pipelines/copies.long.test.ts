import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { restoreFile } from '../../src/backup.js';
import { createClient } from '../../src/client/index.js';
import { PASSWORD, until, untilMatches } from '../harness/app.js';
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
    const { file } = await untilMatches(() => client().backups.get({ id }), { status: 'done' });
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

  it('watches no mailbox and sends no e-mail until it is told to', async () => {
    const [first, second] = [join(home, 'mailing'), join(home, 'silent')];
    const env = { ADJUTANT_EGRESS_ALLOW: '127.0.0.1' };
    let dials = 0;
    /** A mail server that ends every connection. */
    const dead = createServer((socket) => {
      dials++;
      socket.destroy();
    });
    dead.listen(0, '127.0.0.1');
    await once(dead, 'listening');
    const address = dead.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const server = { host: '127.0.0.1', port, tls: 'implicit' as const };
    let daemon = await startDaemon({ home: first, env });
    const { token } = await createClient({ url: daemon.url }).auth.register({
      body: { username: 'ada', password: PASSWORD },
    });
    const client = () => createClient({ url: daemon.url, token });
    const { id: credentialId } = await client().vault.create({
      body: { name: 'mailbox', value: 'a password of a mailbox' },
    });
    const body = { address: 'ada@example.test', credentialId, imap: server, smtp: server };
    const account = await client().mailaccounts.create({ body: { ...body, watch: true } });
    const mail = await client().sentmail.send({
      body: { to: ['bob@example.test'], subject: 'Hello', text: 'How are you?' },
    });
    const before = await until(
      () => client().sentmail.get({ id: mail.id }),
      ({ status, attempts }) => status === 'queued' && attempts === 1,
    );
    expect(before.nextAt).to.not.be.null();
    const passphrase = 'a passphrase for keys';
    const { id } = await client().backups.create({ body: { passphrase, folder: home } });
    const { file } = await untilMatches(() => client().backups.get({ id }), { status: 'done' });
    await daemon.end('SIGKILL');
    expect(dials).to.be.above(1);
    dials = 0;
    await restoreFile({ home: second, file, passphrase }, () => undefined).done;
    daemon = await startDaemon({ home: second, env });
    expect((await client().mailaccounts.get({ id: account.id })).watch).to.be.false();
    const copied = await client().sentmail.get({ id: mail.id });
    const [recipient] = copied.recipients;
    expect([copied.status, recipient?.status]).to.equal(['unknown', 'unknown']);
    expect([copied.attempts, copied.nextAt]).to.equal([before.attempts, null]);
    expect(copied.error).to.contain('it may have been sent elsewhere');
    await daemon.end('SIGTERM');
    dead.close();
    expect(dials).to.equal(0);
    const db = new Database(join(second, 'adjutant.db'), { readonly: true });
    const heldAt = db.prepare("SELECT value FROM facts WHERE name = 'held_at'").pluck().get();
    const newFrom = db.prepare('SELECT new_from FROM mail_accounts').pluck().all();
    db.close();
    expect(newFrom).to.equal([heldAt]);
    expect(String(heldAt) > account.createdAt).to.be.true();
  });
});
