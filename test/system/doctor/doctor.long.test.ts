import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { voiceFinding } from '../../../src/system/doctor/rules.js';
import {
  type FrozenClock,
  frozenClock,
  startApp,
  type TestApp,
  until,
  untilMatches,
} from '../../harness/app.js';
import { linkChannel } from '../../harness/channel.js';
import { inside } from '../../harness/inside.js';
import { seedLostMessage } from '../../harness/messages.js';
import { refuses, startOpenai } from '../../harness/openai.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const DAY_MS = 24 * 3600 * 1000;
/** Nothing listens there. */
const DEAD = 'http://127.0.0.1:1/v1';

interface Finding {
  name: string;
  status: string;
  detail: string;
  remedy: string | null;
}

describe('the doctor', () => {
  let app: TestApp;
  let clock: FrozenClock;
  let token: string;
  const look = async (): Promise<Finding[]> => {
    const { status, body, text } = await app.call('GET', '/api/admin/doctor', { token });
    expect(status, text).to.equal(200);
    return body.findings;
  };
  const named = async (name: string) => (await look()).find((finding) => finding.name === name);

  before(async () => {
    clock = frozenClock();
    app = await startApp({ clock, config: { tokenHours: 720 } });
    token = (await app.register('ada')).token;
    await chmod(app.home, 0o700);
  });
  after(() => app.stop());

  it('finds a fresh daemon well, confinement aside', async () => {
    const findings = await look();
    const ill = findings.filter(({ status, name }) => status !== 'ok' && name !== 'confinement');
    expect(ill).to.equal([]);
    expect(findings.map(({ name }) => name)).to.equal([
      ...['home', 'keys', 'integrity', 'vault', 'audit', 'clock', 'exposure'],
      ...['database', 'queue', 'channels', 'disk', 'models', 'confinement', 'backup', 'outbox'],
      ...['embedder', 'voice'],
    ]);
    expect(findings.find(({ name }) => name === 'voice')?.detail).to.equal(
      'speech is transcribed by pocketsphinx; without ffmpeg, WebM, M4A and AMR cannot be read',
    );
    expect(findings.find(({ name }) => name === 'integrity')?.detail).to.match(
      /^\d+ tables checked, no damage$/,
    );
  });

  it('tells that no engine transcribes speech', async () => {
    const bare = await startApp({ config: { voicePath: [] } });
    const { token: other } = await bare.register('ada');
    const { body } = await bare.call('GET', '/api/admin/doctor', { token: other });
    await bare.stop();
    const found = body.findings.filter(({ name }: Finding) => name === 'voice');
    expect(found.map(({ detail }: Finding) => detail)).to.equal([
      'no engine transcribes speech; without ffmpeg, WebM, M4A and AMR cannot be read',
    ]);
    expect(voiceFinding({ engines: ['pocketsphinx'], hasFfmpeg: true }).detail).to.equal(
      'speech is transcribed by pocketsphinx; ffmpeg is installed',
    );
  });

  it('finds a log that cannot be written, until it can', async () => {
    app.recent.watch(() => ({ lostLines: 12, reason: 'ENOSPC' }));
    expect(await named('log')).to.equal({
      name: 'log',
      status: 'fail',
      detail: 'the log cannot be written (ENOSPC): 12 lines lost so far',
      remedy:
        'free disk space, or unblock the reader of the log. Newest lines: adjutant logs --remote',
    });
    app.recent.watch(() => ({ lostLines: 0, reason: 'ENOSPC' }));
    expect(await named('log')).to.equal(undefined);
  });

  it('finds what others on the machine can read', async () => {
    const key = join(app.home, 'keys/master.key');
    await chmod(key, 0o640);
    await chmod(app.home, 0o755);
    const [home, keys] = await look();
    await chmod(key, 0o600);
    await chmod(app.home, 0o700);
    expect([home?.status, home?.remedy]).to.equal(['warn', `chmod 700 ${app.home}`]);
    expect(keys).to.equal({
      name: 'keys',
      status: 'fail',
      detail: 'master.key can be read by other users of the machine',
      remedy: `chmod 600 ${app.home}/keys/*   and make sure that nobody copied them`,
    });
  });

  it('finds a secret that the master key does not open, and says which column', async () => {
    const body = { name: 'forge', value: 'a secret value', type: 'other' };
    expect((await app.call('POST', '/api/vault', { token, body })).status).to.equal(201);
    expect((await named('vault'))?.status).to.equal('ok');
    const { db } = app.app.store;
    await db.updateTable('credential_versions').set({ sealed: 'v1.AAAA' }).execute();
    expect(await named('vault')).to.equal({
      name: 'vault',
      status: 'fail',
      detail: 'the master key does not open all values of credential_versions.sealed',
      remedy: 'restore the key that sealed them: keys/master.key or ADJUTANT_MASTER_KEY',
    });
    await db.deleteFrom('credential_versions').execute();
  });

  it('finds a clock that was set back', async () => {
    await app.call('GET', '/api/admin/users', { token });
    clock.shift(-61_000);
    const found = await named('clock');
    clock.forward(61_000);
    expect([found?.status, found?.detail]).to.equal([
      'fail',
      'the clock is at 2026-03-01T11:58:59.000Z, but the database was written at 2026-03-01T12:00:00.000Z',
    ]);
  });

  it('tells of each model that fails, what it said', async () => {
    const body = { name: 'house', provider: 'openai-compatible', modelId: 'm', baseUrl: DEAD };
    expect((await app.call('POST', '/api/models', { token, body })).status).to.equal(201);
    await app.call('POST', '/api/models/house/test', { token });
    const findings = await look();
    const found = findings.find(({ name }) => name === 'model house');
    expect(found?.status).to.equal('fail');
    expect(found?.detail).to.equal('house at 127.0.0.1: the connection was refused');
    expect(found?.remedy).to.equal('adjutant models test house');
    const server = await startOpenai(refuses(401));
    const { baseUrl } = server;
    await app.call('PATCH', '/api/models/house', { token, body: { baseUrl } });
    await app.call('POST', '/api/models/house/test', { token });
    expect((await named('model house'))?.remedy).to.equal(
      'adjutant models test house   For a refused key: adjutant models update house --key-file -',
    );
    await server.stop();
    expect(findings.map(({ name }) => name)).not.to.include('models');
    await app.call('DELETE', '/api/models/house', { token });
  });

  it('says how old the newest backup is, once there is something to lose', async () => {
    expect(await named('backup')).to.include({ status: 'ok', detail: 'none yet' });
    clock.forward(9 * DAY_MS);
    expect(await named('backup')).to.equal({
      name: 'backup',
      status: 'warn',
      detail: 'no backup in 9 days, and none before',
      remedy: 'adjutant backup create   To schedule: adjutant backup schedule --daily',
    });
    clock.shift(-9 * DAY_MS);
  });

  it('counts what was not delivered', async () => {
    const { id: userId } = (await app.call('GET', '/api/auth/me', { token })).body;
    const { id: channel } = await linkChannel(app, userId);
    await seedLostMessage(app, { userId, channel });
    expect(await named('outbox')).to.equal({
      name: 'outbox',
      status: 'warn',
      detail: '1 not delivered',
      remedy: 'adjutant outbox list --status failed',
    });
  });

  it('finds a platform that channels are linked on in vain', async () => {
    const platform = (fields: object) =>
      app.call('PUT', '/api/admin/platforms/telegram', { token, body: { fields } });
    const found = {
      name: 'platform telegram',
      status: 'warn',
      remedy: 'adjutant channels setup telegram',
    };
    expect(await named('platform telegram')).to.be.undefined();
    const { id: userId } = (await app.call('GET', '/api/auth/me', { token })).body;
    await linkChannel(app, userId, { kind: 'telegram', id: '42', name: 'Ada' });
    const linked = '1 channel is linked, but';
    expect(await named('platform telegram')).to.equal({
      ...found,
      detail: `${linked} botToken, webhookSecret are not set. No message gets through`,
    });
    await platform({ webhookSecret: 'w'.repeat(32) });
    expect(await named('platform telegram')).to.equal({
      ...found,
      detail: `${linked} botToken is not set. No message gets through`,
    });
    await platform({ botToken: '123456:ABC' });
    expect(await named('platform telegram')).to.be.undefined();
  });

  it('finds that nothing is set for messages after the day of free text', async () => {
    const set = (values: object) =>
      app.call('PUT', '/api/admin/platforms/whatsapp', { token, body: { values } });
    const { id: userId } = (await app.call('GET', '/api/auth/me', { token })).body;
    await linkChannel(app, userId, { kind: 'whatsapp', id: '15550783881', name: 'Ada' });
    await set({ appSecret: 's', verifyToken: 'v', phoneNumberId: '106540352', accessToken: 't' });
    expect(await named('platform whatsapp')).to.equal({
      name: 'platform whatsapp',
      status: 'warn',
      detail:
        '1 channel is linked, but no template is set. Messages fail if they are sent more than a day after the last received one',
      remedy: 'adjutant channels setup whatsapp',
    });
    await set({ templateName: 'assistant_news' });
    expect(await named('platform whatsapp')).to.be.undefined();
  });

  it('finds what strangers may do', async () => {
    await app.restart({ registration: 'open', publicUrl: 'https://127.0.0.1:1' });
    const findings = await look();
    const shown = findings.map(({ name, status }) => `${status} ${name}`);
    expect(shown).to.include(['fail registration', 'warn addresses', 'ok exposure']);
    await app.restart({ host: '0.0.0.0' });
    expect((await named('exposure'))?.status).to.equal('warn');
  });

  it('is for admins alone', async () => {
    expect((await app.call('GET', '/api/admin/doctor')).status).to.equal(401);
    await app.restart({ registration: 'open' });
    const bob = await app.register('bob');
    expect((await app.call('GET', '/api/admin/doctor', { token: bob.token })).status).to.equal(403);
    const odd = await app.call('GET', '/api/admin/doctor?deep=1', { token });
    expect([odd.status, odd.body.details[0].path]).to.equal([400, 'deep']);
  });

  it('finds work of which the due time has passed long ago', async () => {
    const { schedules } = inside(app.app);
    const { tick } = schedules;
    schedules.tick = async () => {
      throw new Error('it broke');
    };
    const body = {
      name: 'nightly',
      trigger: 'schedule',
      triggerConfig: { cron: '* * * * *' },
      action: 'notify',
      actionConfig: { notifyMessage: 'Good night' },
    };
    const { id, triggerConfig } = (await app.call('POST', '/api/hooks', { token, body })).body;
    clock.forward(16 * 60_000);
    const late = await until(
      () => named('scheduler'),
      (finding) => finding?.detail.endsWith('it broke') === true,
    );
    expect(late).to.equal({
      name: 'scheduler',
      status: 'fail',
      detail: `hook schedules: due since ${triggerConfig.nextRunAt}, fails: it broke`,
      remedy: 'adjutant logs --last 50',
    });
    schedules.tick = tick;
    await app.call('DELETE', `/api/hooks/${id}`, { token });
    await untilMatches(() => {
      clock.forward(1000);
      return named('scheduler');
    }, undefined);
  });
});
