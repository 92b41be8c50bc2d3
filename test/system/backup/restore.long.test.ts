import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { migrations } from '../../../migrations/all.js';
import { restoreFile } from '../../../src/backup.js';
import { startApp, type TestApp, until } from '../../harness/app.js';
import { seedFolder } from '../../harness/folder.js';
import { seedGrant } from '../../harness/grant.js';
import { inside } from '../../harness/inside.js';
import { silentWav } from '../../harness/speech.js';
import { addHook, deliver, openStage, PASSPHRASE, type Stage } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const SCHEMA = migrations.at(-1)?.version;

/** Keeps a grant, a folder that is watched, and one that is not. */
const keepRows = async (app: TestApp, ownerId: string, token: string): Promise<void> => {
  await keepReminders(app, token);
  await keepSpeech(app, token);
  await seedGrant(app, ownerId);
  await seedFolder(app, ownerId);
  await seedFolder(app, ownerId, { watch: 1 });
};

/** A transcription that waits. */
const keepSpeech = async (app: TestApp, token: string): Promise<void> => {
  const audio = silentWav().toString('base64');
  const { body } = await app.call('POST', '/api/voice/transcribe', { token, body: { audio } });
  const { db } = app.app.store;
  await until(
    () => app.call('GET', `/api/voice/transcriptions/${body.id}`, { token }),
    (reply) => reply.body.status === 'completed',
  );
  const waiting = { status: 'queued', finished_at: null } as const;
  await db.updateTable('transcriptions').set(waiting).where('id', '=', body.id).execute();
};

/** A task whose reminder has passed and was not given, and one whose reminder comes. */
const keepReminders = async (app: TestApp, token: string): Promise<void> => {
  await app.app.modules.schedule.stop();
  const dueAt = new Date(Date.now() + 3_600_000).toISOString();
  for (const title of ['Passed', 'Coming']) {
    const body = { title, dueAt, reminderMinutes: 0 };
    await app.call('POST', '/api/tasks', { token, body });
  }
  await app.app.store.db
    .updateTable('tasks')
    .set({ remind_at: '2026-01-01T00:00:00.000Z' })
    .where('title', '=', 'Passed')
    .execute();
};

/** What was at work when the backup was made, and a copy of it that goes on elsewhere. */
describe('a restored home', () => {
  let stage: Stage;
  let copy: TestApp;
  let agentId: string;
  let waiting: string;
  let restored: Awaited<ReturnType<typeof restoreFile>['done']>;

  before(async () => {
    stage = await openStage({ config: { egressAllow: ['127.0.0.1'] } });
    const { app, token } = stage;
    const spawn = { action: 'spawn_agent', actionConfig: { agentPrompt: 'Look' } };
    await addHook(stage, 'spawn', spawn);
    // A plain notification would not wait at all.
    await addHook(stage, 'later', { cooldownMs: 1 });
    const nightly = { trigger: 'schedule', triggerConfig: { cron: '0 3 * * *' } };
    await addHook(stage, 'nightly', { ...nightly, name: 'nightly' });
    const endpoint = { name: 'app', url: 'http://127.0.0.1:9/', events: ['hook.executed'] };
    for (const name of ['app', 'other']) {
      const body = { ...endpoint, name };
      expect((await app.call('POST', '/api/webhooks', { token, body })).status).to.equal(201);
    }
    const { outgoing } = inside(app.app);
    const { id: ownerId } = (await app.call('GET', '/api/auth/me', { token })).body;
    outgoing.rest(`owner_${ownerId}`, 600_000);
    await keepRows(app, ownerId, token);
    await addHook(stage, 'told', {});
    await deliver(app.url, 'told');
    await until(
      () => app.app.store.db.selectFrom('outgoing_events').select('id').execute(),
      (events) => events.length === 1,
    );
    // Nothing is taken from the queue any more: as a kill at that moment leaves it.
    await inside(app.app).queue.stop(0);
    waiting = (await deliver(app.url, 'later'))[0] ?? '';
    const agent = { prompt: 'Work', topic: null };
    agentId = (await app.call('POST', '/api/agents', { token, body: { prompt: agent.prompt } }))
      .body.id;
    await app.app.store.db
      .updateTable('agents')
      .set({ status: 'running' })
      .where('id', '=', agentId)
      .execute();
    const { file } = await stage.made();
    const home = join(stage.folder, 'home');
    restored = await restoreFile({ home, file, passphrase: PASSPHRASE }, () => undefined).done;
    copy = await startApp({ home });
  });
  after(async () => {
    await copy.stop();
    await stage.stop();
  });

  const get = async (path: string) => (await copy.call('GET', path, { token: stage.token })).body;

  it('says what it held back', () => {
    expect(restored).to.include({ agents: 1, executions: 1, schedules: 1, folders: 1 });
    expect<number | undefined>(restored.schema).to.equal(SCHEMA);
  });

  it('has agents that were at work waiting paused, and resumes them on a word', async () => {
    const { events } = await get(`/api/agents/${agentId}/events`);
    expect((await get(`/api/agents/${agentId}`)).status).to.equal('paused');
    const { data } = events.at(-1);
    expect(data).to.equal({ status: 'paused', reason: 'Restored from a backup' });
    const path = `/api/agents/${agentId}/resume`;
    expect((await copy.call('POST', path, { token: stage.token })).status).to.equal(200);
  });

  it('has runs that waited interrupted, and replays them on a word', async () => {
    const { hooks } = await get('/api/hooks');
    const { id } = hooks.find(({ name }: { name: string }) => name === 'later');
    const { executions } = await get(`/api/hooks/${id}/executions`);
    expect(executions.length).to.equal(1);
    expect([executions[0].id, executions[0].status]).to.equal([waiting, 'interrupted']);
    expect(executions[0].error).to.contain('Restored from a backup');
    const path = `/api/hooks/${id}/executions/${waiting}/replay`;
    const replayed = await copy.call('POST', path, { token: stage.token, body: {} });
    expect(replayed.status).to.equal(202);
  });

  it('has transcriptions that waited failed, since their audio is in no backup', async () => {
    const { transcriptions } = await get('/api/voice/transcriptions');
    const [{ status, code, error }] = transcriptions;
    expect([status, code, error]).to.equal([
      ...['failed', 'interrupted'],
      'Restored from a backup: the audio is in no backup. Transcribe the file again',
    ]);
  });

  it('has events of which no message was made yet as messages of unknown fate', async () => {
    const { webhooks } = await get('/api/webhooks');
    expect(webhooks.length).to.equal(2);
    for (const { id } of webhooks) {
      const { deliveries } = await get(`/api/webhooks/${id}/deliveries?status=unknown`);
      expect(deliveries.length).to.equal(1);
      expect(deliveries[0]).to.include({ event: 'hook.executed', status: 'unknown', attempts: [] });
      expect(deliveries[0].error).to.contain('Restored from a backup');
    }
  });

  it('has no approvals that stand', async () => {
    expect((await get('/api/skills/grants')).grants).to.equal([]);
    const path = '/api/skills/grants';
    const { body } = await stage.app.call('GET', path, { token: stage.token });
    expect(body.grants.length).to.equal(1);
  });

  it('gives no reminder of a task whose time had passed', async () => {
    const reminders = copy.app.store.db.selectFrom('tasks').select(['title', 'remind_at']);
    const rows = await reminders.orderBy('title').execute();
    expect(rows.map(({ title, remind_at }) => [title, remind_at !== null])).to.equal([
      ['Coming', true],
      ['Passed', false],
    ]);
    const { notifications } = await get('/api/notifications');
    const kinds = notifications.map(({ kind }: { kind: string }) => kind);
    expect(kinds).to.not.include('task_reminder');
  });

  it('has schedules off', async () => {
    const { hooks } = await get('/api/hooks');
    const states = hooks.map(({ name, enabled }: { name: string; enabled: boolean }) => [
      name,
      enabled,
    ]);
    expect(Object.fromEntries(states)).to.equal({
      ...{ nightly: false, later: true, spawn: true, told: true },
    });
  });

  it('tells the owners', async () => {
    const { notifications } = await get('/api/notifications');
    const { title, body } = notifications.find(({ kind }: { kind: string }) => kind === 'restored');
    expect([title, body]).to.equal([
      'Restored from a backup',
      'Paused agents: 1. Interrupted runs: 1. Interrupted operations: 0. Disabled scheduled hooks: 1. Disabled recurring tasks: 0. Disabled watched folders: 1. Messages that may have been sent elsewhere: 2. None of these resume automatically.',
    ]);
  });

  it('has it in its audit log, whose chain goes on', async () => {
    const { entries } = await get('/api/admin/audit?action=backups.restore');
    expect(entries[0]).to.include({ actorId: 'operator', outcome: 'ok' });
    expect(entries[0].data).to.include({ agents: 1, executions: 1, schedules: 1, folders: 1 });
    const { ok, problem } = await get('/api/admin/audit/verify');
    expect([ok, problem]).to.equal([true, null]);
  });

  it('knows no backups of the other home', async () => {
    expect((await get('/api/admin/backups')).backups).to.equal([]);
  });

  it('is never begun with where the restore was cut short', async () => {
    const home = join(stage.folder, 'half');
    const half = await startApp({ home });
    await half.stop();
    await writeFile(join(home, 'restoring'), '');
    await expect(startApp({ home })).to.reject(/A restore into .* was interrupted/);
    expect(readFileSync(join(home, 'restoring')).length).to.equal(0);
  });
});
