import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  type FrozenClock,
  frozenClock,
  PASSWORD,
  type Reply,
  sign,
  startApp,
  type TestApp,
  until,
} from '../harness/app.js';

export const lab = Lab.script();
const { before, after, describe, it } = lab;

interface Person {
  id: string;
  token: string;
}

describe('resources of an organization', () => {
  let app: TestApp;
  let clock: FrozenClock;
  let ada: Person;
  let bob: Person;
  let cleo: Person;
  let eve: Person;
  let org: string;

  before(async () => {
    clock = frozenClock();
    app = await startApp({ clock });
    // An admin of the installation, the owner, a member, and a stranger who owns another organization.
    ada = await app.register('ada');
    bob = await app.register('bob');
    cleo = await app.register('cleo');
    eve = await app.register('eve');
    org = await create(bob, 'acme');
    await ask(bob, 'POST', `/api/orgs/${org}/members`, { username: 'cleo' });
    await approve(await create(eve, 'other'));
  });
  after(() => app.stop());

  const ask = (who: Person, method: string, path: string, body?: unknown): Promise<Reply> =>
    app.call(method, path, { token: who.token, ...(body !== undefined && { body }) });
  const create = async (who: Person, slug: string): Promise<string> =>
    (await ask(who, 'POST', '/api/orgs', { slug, name: `The ${slug}` })).body.id;
  const approve = (id: string) => ask(ada, 'PATCH', `/api/admin/orgs/${id}`, { approved: true });
  const hook = (name: string, orgId?: string) => ({
    name,
    trigger: 'webhook',
    triggerConfig: { webhookPath: name, webhookSecret: 'a secret of the tests' },
    action: 'notify',
    actionConfig: { notifyMessage: 'Received {{webhook.body.number}}' },
    ...(orgId && { orgId }),
  });
  const names = (list: { name: string }[]) => list.map(({ name }) => name);

  it('are not possible before the approval', async () => {
    const refused = await ask(bob, 'POST', '/api/hooks', hook('early', org));
    expect([refused.status, refused.body.code]).to.equal([409, 'org_not_approved']);
    expect((await approve(org)).status).to.equal(200);
  });

  it('are created by owners, seen by members, and hidden from others', async () => {
    const made = await ask(bob, 'POST', '/api/hooks', hook('shared', org));
    expect([made.status, made.body.orgId]).to.equal([201, org]);
    await ask(bob, 'POST', '/api/hooks', hook('own'));
    const at = `/api/hooks/${made.body.id}`;
    expect((await ask(cleo, 'GET', at)).body.name).to.equal('shared');
    const changed = await ask(cleo, 'PUT', at, { description: 'mine' });
    expect([changed.status, changed.body.code]).to.equal([403, 'org_role']);
    for (const who of [eve, ada]) {
      expect((await ask(who, 'GET', at)).status).to.equal(404);
      expect((await ask(who, 'PUT', at, { description: 'mine' })).status).to.equal(404);
      const given = await ask(who, 'POST', '/api/hooks', hook('intruder', org));
      expect(given.status).to.equal(404);
    }
    expect((await ask(bob, 'PUT', at, { description: 'ours', orgId: org })).status).to.equal(200);
  });

  it('are listed with the own ones', async () => {
    const list = async (who: Person, query = '') =>
      names((await ask(who, 'GET', `/api/hooks${query}`)).body.hooks);
    expect(await list(bob)).to.equal(['own', 'shared']);
    expect(await list(bob, '?orgId=personal')).to.equal(['own']);
    expect(await list(bob, `?orgId=${org}`)).to.equal(['shared']);
    expect(await list(cleo)).to.equal(['shared']);
    expect(await list(eve)).to.equal([]);
    const first = (await ask(bob, 'GET', '/api/hooks?limit=1')).body;
    const second = (await ask(bob, 'GET', `/api/hooks?limit=1&cursor=${first.nextCursor}`)).body;
    expect(names([...first.hooks, ...second.hooks])).to.equal(['own', 'shared']);
    expect(second.nextCursor).to.be.null();
  });

  it('have permissions of tools that only owners and admins set and reset', async () => {
    const level = { skillId: 'http', action: 'request', level: 'deny' };
    await ask(bob, 'PUT', '/api/skills/permissions', { ...level, orgId: org });
    await ask(bob, 'PUT', '/api/skills/permissions', level);
    const at = `/api/skills/permissions/http/request?orgId=${org}`;
    expect((await ask(cleo, 'DELETE', at)).body.code).to.equal('org_role');
    expect((await ask(eve, 'DELETE', at)).status).to.equal(404);
    expect((await ask(bob, 'DELETE', at)).status).to.equal(204);
    expect((await ask(bob, 'DELETE', at)).status).to.equal(404);
    const own = (await ask(bob, 'GET', '/api/skills/permissions')).body.permissions;
    expect(own.map((one: { level: string }) => one.level)).to.equal(['deny']);
    await ask(bob, 'DELETE', '/api/skills/permissions/http/request');
  });

  it('use only what the organization has', async () => {
    const credential = { name: 'key', value: 'of bob', type: 'webhook_secret' };
    const { id } = (await ask(bob, 'POST', '/api/vault', credential)).body;
    const with_ = {
      ...hook('borrowed', org),
      triggerConfig: { webhookPath: 'b', webhookCredentialId: id },
    };
    const refused = (await ask(bob, 'POST', '/api/hooks', with_)).body;
    expect(refused.details).to.equal([
      {
        path: 'triggerConfig.webhookCredentialId',
        message: 'must be the ID of a credential of the organization',
      },
    ]);
    const ours = await ask(bob, 'POST', '/api/vault', { ...credential, orgId: org });
    const again = {
      ...with_,
      triggerConfig: { webhookPath: 'b', webhookCredentialId: ours.body.id },
    };
    expect((await ask(bob, 'POST', '/api/hooks', again)).status).to.equal(201);
  });

  it('notify the members whom the organization names, by default the owners', async () => {
    const told = async (who: Person) =>
      (await ask(who, 'GET', '/api/notifications')).body.notifications.filter(
        ({ body }: { body: string }) => body.includes('Received 7'),
      ).length;
    const id = (await ask(bob, 'GET', `/api/hooks?orgId=${org}`)).body.hooks.at(-1).id;
    const fire = async () => {
      const fired = await ask(bob, 'POST', `/api/hooks/${id}/test`, { payload: { number: 7 } });
      expect(fired.status).to.equal(202);
    };
    await fire();
    await until(
      () => told(bob),
      (count) => count === 1,
    );
    expect(await told(cleo)).to.equal(0);
    await ask(bob, 'PATCH', `/api/orgs/${org}`, { notify: [cleo.id] });
    await fire();
    await until(
      () => told(cleo),
      (count) => count === 1,
    );
    expect(await told(bob)).to.equal(1);
    const stranger = await ask(bob, 'PATCH', `/api/orgs/${org}`, { notify: [eve.id] });
    expect([stranger.status, stranger.body.details[0].path]).to.equal([400, 'notify.0']);
  });

  it('are recorded in the audit log with the person and the organization', async () => {
    const entries = (await ask(bob, 'GET', `/api/orgs/${org}/audit`)).body.entries;
    const entry = entries.find(({ action }: { action: string }) => action === 'vault.create');
    expect([entry.actorName, entry.data.orgId]).to.equal(['bob', org]);
  });

  it('are lost by a member who leaves', async () => {
    const [shared] = (await ask(cleo, 'GET', '/api/hooks')).body.hooks;
    const notified = async () => (await ask(bob, 'GET', `/api/orgs/${org}`)).body.notify;
    expect(await notified()).to.equal([cleo.id]);
    await ask(bob, 'DELETE', `/api/orgs/${org}/members/${cleo.id}`);
    expect((await ask(cleo, 'GET', `/api/hooks/${shared.id}`)).status).to.equal(404);
    expect((await ask(cleo, 'GET', '/api/hooks')).body.hooks).to.equal([]);
    expect(await notified()).to.equal([]);
  });

  describe('when it is deleted', () => {
    const filled = async (slug: string): Promise<string> => {
      const id = await create(bob, slug);
      await approve(id);
      const of = { orgId: id };
      await ask(bob, 'POST', '/api/vault', { ...KEY, ...of });
      await ask(bob, 'POST', '/api/hooks', hook(slug, id));
      await ask(bob, 'POST', '/api/recurring-tasks', { ...NIGHTLY, ...of });
      await ask(bob, 'POST', '/api/knowledge', { title: slug, text: `Secrets of ${slug}`, ...of });
      await until(
        async () => (await ask(bob, 'GET', `/api/knowledge?orgId=${id}`)).body.entries[0],
        ({ status }) => status === 'ready',
      );
      expect(await hits(slug, id)).to.equal(1);
      return id;
    };
    const KEY = { name: 'deploy-key', value: 'a value', type: 'webhook_secret' };
    const NIGHTLY = {
      ...{ title: 'nightly', schedule: { cron: '0 2 * * *' } },
      ...{ action: 'notify', actionConfig: { notifyMessage: 'It is night' } },
    };
    const BODY = '{"number":1}';
    const remove = (id: string, slug: string, body: object = {}) =>
      ask(bob, 'DELETE', `/api/orgs/${id}`, { slug, ...body });
    const deliver = (path: string) =>
      app.call('POST', `/api/webhooks/${path}`, {
        body: BODY,
        headers: { 'x-hub-signature-256': sign('a secret of the tests', BODY) },
      });
    const hits = async (query: string, orgId?: string) =>
      (
        await ask(bob, 'POST', '/api/knowledge/search', {
          ...{ query, mode: 'keyword' },
          ...(orgId && { orgId }),
        })
      ).body.results.length;
    const leftOf = async (id: string) => {
      const { db } = app.app.store;
      const rows = await db.selectFrom('users').select('id').where('id', '=', id).execute();
      return rows.length;
    };

    it('needs a decision about its resources', async () => {
      const id = await filled('undecided');
      const refused = await remove(id, 'undecided');
      expect([refused.status, refused.body.details[0].path]).to.equal([400, 'resources']);
    });

    it('hands them over, with another name where the recipient has one already', async () => {
      await ask(bob, 'POST', '/api/vault', KEY);
      const id = await filled('moving');
      expect((await deliver('moving')).status).to.equal(202);
      const done = await remove(id, 'moving', { resources: 'transfer' });
      expect(done.status).to.equal(204);
      const mine = (await ask(bob, 'GET', '/api/hooks?orgId=personal')).body.hooks;
      expect(names(mine)).to.include('moving');
      const keys = names((await ask(bob, 'GET', '/api/vault?orgId=personal')).body.credentials);
      expect(keys.filter((name) => name.startsWith('deploy-key'))).to.have.length(2);
      const { credentials } = (await ask(bob, 'GET', '/api/vault?orgId=personal')).body;
      for (const { name, id: key } of credentials.slice(0, 2)) {
        const shown = await ask(bob, 'POST', `/api/vault/${key}/reveal`, { password: PASSWORD });
        expect(shown.body.value, name).to.equal(KEY.value);
      }
      await until(
        () => hits('moving'),
        (count) => count === 1,
      );
      const moved = mine.find(({ name }: { name: string }) => name === 'moving').id;
      const { executions } = (await ask(bob, 'GET', `/api/hooks/${moved}/executions`)).body;
      expect(executions).to.have.length(1);
      const { recurringTasks } = (await ask(bob, 'GET', '/api/recurring-tasks?orgId=personal'))
        .body;
      expect([recurringTasks[0].title, recurringTasks[0].enabled]).to.equal(['nightly', false]);
      // Disabled, since others may have created it.
      expect((await deliver('moving')).status).not.to.equal(202);
      await ask(bob, 'POST', `/api/hooks/${moved}/enable`);
      expect((await deliver('moving')).status).to.equal(202);
      expect(await leftOf(id)).to.equal(0);
    });

    it('ends what is in the queue, and says why', async () => {
      const { db } = app.app.store;
      const id = await filled('queued');
      const waiting = async (startedAt: string | null, boot: string | null = null) => {
        expect((await deliver('queued')).status).to.equal(202);
        const ended = await until(
          () =>
            db
              .selectFrom('executions')
              .select('id')
              .where('user_id', '=', id)
              .where('finished_at', 'is not', null)
              .where('run_at', 'is', null)
              .orderBy('id', 'desc')
              .executeTakeFirst(),
          (row) => row !== undefined,
        );
        const again = { attempts: 1, run_at: '2099-01-01T00:00:00.000Z', finished_at: null };
        await db
          .updateTable('executions')
          .set({
            ...{ ...again, boot },
            status: startedAt === null ? 'queued' : 'running',
            started_at: startedAt,
          })
          .where('id', '=', ended?.id ?? '')
          .execute();
      };
      await waiting(null);
      await waiting('2026-03-01T12:00:00.000Z');
      // Under way, and to be tried again.
      await waiting('2026-03-01T12:00:00.000Z', 'boot_1');
      await remove(id, 'queued', { resources: 'transfer' });
      const mine = (await ask(bob, 'GET', '/api/hooks?orgId=personal')).body.hooks;
      const moved = mine.find(({ name }: { name: string }) => name === 'queued').id;
      const { executions } = (await ask(bob, 'GET', `/api/hooks/${moved}/executions`)).body;
      const error = 'the organization was deleted. Replay the execution if needed';
      expect(
        executions.map((each: Record<string, unknown>) => [
          each.status,
          each.error,
          typeof each.finishedAt,
        ]),
      ).to.equal([
        ['error', error, 'string'],
        ['error', error, 'string'],
        ['skipped', error, 'string'],
      ]);
    });

    it('deletes them', async () => {
      const id = await filled('ending');
      expect((await deliver('ending')).status).to.equal(202);
      expect((await remove(id, 'ending', { resources: 'delete' })).status).to.equal(204);
      expect((await deliver('ending')).status).to.equal(404);
      expect(names((await ask(bob, 'GET', '/api/hooks')).body.hooks)).not.to.include('ending');
      expect(await hits('ending')).to.equal(0);
      expect(await leftOf(id)).to.equal(0);
    });

    it('continues after an interruption', async () => {
      const id = await filled('interrupted');
      const { db } = app.app.store;
      await db.updateTable('orgs').set({ deletion: '' }).where('id', '=', id).execute();
      await db
        .updateTable('users')
        .set({ disabled_at: '2026-03-01' })
        .where('id', '=', id)
        .execute();
      await app.restart();
      await until(
        () => leftOf(id),
        (count) => count === 0,
      );
    });
  });
});
