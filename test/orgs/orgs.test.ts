import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  type FrozenClock,
  frozenClock,
  type Reply,
  startApp,
  type TestApp,
} from '../harness/app.js';

export const lab = Lab.script();
const { afterEach, before, after, describe, it } = lab;

const HOUR_MS = 3600 * 1000;

interface Person {
  id: string;
  token: string;
}

describe('organizations', () => {
  let app: TestApp;
  let clock: FrozenClock;
  let admin: Person;
  let bob: Person;
  let eve: Person;
  let org: string;

  before(async () => {
    clock = frozenClock();
    app = await startApp({ clock });
    admin = await app.register('ada');
    bob = await app.register('bob');
    eve = await app.register('eve');
    org = await create(bob, 'acme');
  });
  after(() => app.stop());
  afterEach(async () => {
    await app.app.store.db
      .deleteFrom('org_members')
      .where('org_id', '=', org)
      .where('user_id', '<>', bob.id)
      .execute();
  });

  const ask = (who: Person, method: string, path: string, body?: unknown): Promise<Reply> =>
    app.call(method, path, { token: who.token, ...(body !== undefined && { body }) });
  const create = async (who: Person, slug: string): Promise<string> => {
    const made = await ask(who, 'POST', '/api/orgs', { slug, name: `The ${slug}` });
    expect(made.status).to.equal(201);
    return made.body.id;
  };
  const at = (path = '') => `/api/orgs/${org}${path}`;
  const add = (who: Person, username: string, role?: string) =>
    ask(who, 'POST', at('/members'), { username, ...(role && { role }) });
  const roles = async (): Promise<string[]> =>
    (await ask(bob, 'GET', at('/members'))).body.members.map(
      ({ username, role }: { username: string; role: string }) => `${username} ${role}`,
    );
  const invite = async (body: object = {}): Promise<string> =>
    (await ask(bob, 'POST', at('/invites'), body)).body.inviteToken;
  const join = (who: Person, inviteToken: string) =>
    ask(who, 'POST', '/api/orgs/join', { inviteToken });
  const titles = async (who: Person): Promise<string[]> =>
    (await ask(who, 'GET', '/api/notifications')).body.notifications
      .filter(({ kind }: { kind: string }) => kind === 'org.membership')
      .map(({ title }: { title: string }) => title);

  it('belong to who creates them, and are listed with the own role', async () => {
    const shown = {
      id: org,
      slug: 'acme',
      name: 'The acme',
      role: 'owner',
      members: 1,
      maxMembers: 100,
      approved: false,
      limits: {
        dailyCostUsd: null,
        monthlyCostUsd: null,
        memberDailyCostUsd: null,
        dailyTokens: null,
      },
      notify: [],
      sso: { enabled: false, enforced: false, domains: [] },
      scim: { enabled: false, tokenSet: false, lastUsedAt: null },
      createdAt: '2026-03-01T12:00:00.000Z',
    };
    expect((await ask(bob, 'GET', at())).body).to.equal(shown);
    expect((await ask(bob, 'GET', '/api/orgs')).body).to.equal({ orgs: [shown], nextCursor: null });
    expect((await ask(eve, 'GET', '/api/orgs')).body.orgs).to.equal([]);
  });

  it('are announced to the admins of the installation, who approve them', async () => {
    const created = async (who: Person) =>
      (await ask(who, 'GET', '/api/notifications')).body.notifications.filter(
        ({ kind }: { kind: string }) => kind === 'org.created',
      );
    const [notice, ...others] = await created(admin);
    expect([notice.title, notice.body, others.length]).to.equal([
      'The organization The acme waits for approval',
      'bob created it. To approve it: adjutant orgs admin update acme --approved',
      0,
    ]);
    const own = await create(admin, 'of-the-admin');
    expect((await created(admin)).length).to.equal(1);
    expect(await created(bob)).to.equal([]);
    await ask(admin, 'DELETE', `/api/orgs/${own}`, { slug: 'of-the-admin' });
  });

  it('need a slug that is free and well-formed', async () => {
    const taken = await ask(eve, 'POST', '/api/orgs', { slug: 'acme', name: 'Mine' });
    expect([taken.status, taken.body.code, taken.body.details[0].path]).to.equal([
      409,
      'slug_taken',
      'slug',
    ]);
    for (const slug of ['a', 'Acme', 'a b', 'x'.repeat(33), 'ä-b', 'personal', 'health']) {
      const wrong = await ask(eve, 'POST', '/api/orgs', { slug, name: 'Mine' });
      expect([slug, wrong.status, wrong.body.details[0].path]).to.equal([slug, 400, 'slug']);
    }
  });

  it('are at most five of one owner, also if they are created at once', async () => {
    const zoe = await app.register('zoe');
    const slugs = ['z1', 'z2', 'z3', 'z4', 'z5', 'z6', 'z7'];
    const replies = await Promise.all(
      slugs.map((slug) => ask(zoe, 'POST', '/api/orgs', { slug, name: slug })),
    );
    expect(replies.map(({ status }) => status).sort()).to.equal([
      201, 201, 201, 201, 201, 409, 409,
    ]);
    expect(replies.find(({ status }) => status === 409)?.body.code).to.equal('too_many_orgs');
    const pages: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await ask(zoe, 'GET', `/api/orgs?limit=2${cursor}`);
      pages.push(...body.orgs.map(({ id }: { id: string }) => id));
      if (body.nextCursor === null) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(new Set(pages).size).to.equal(5);
  });

  it('are hidden from strangers and installation admins, who only see them in their own list', async () => {
    for (const who of [eve, admin]) {
      for (const [method, path, body] of [
        ['GET', ''],
        ['PATCH', '', { name: 'Stolen' }],
        ['GET', '/members'],
        ['POST', '/members', { username: 'eve' }],
        ['PATCH', `/members/${bob.id}`, { role: 'member' }],
        ['DELETE', `/members/${bob.id}`],
        ['GET', '/invites'],
        ['POST', '/invites', {}],
        ['POST', '/transfer', { userId: eve.id }],
        ['GET', '/audit'],
        ['DELETE', '', { slug: 'acme' }],
      ] as const) {
        const { status } = await ask(who, method, at(path), body);
        expect([method, path, status]).to.equal([method, path, 404]);
      }
    }
    expect(await roles()).to.equal(['bob owner']);
    const { body } = await ask(admin, 'GET', '/api/admin/orgs');
    const [listed] = body.orgs.filter(({ id }: { id: string }) => id === org);
    expect(listed).to.include({ slug: 'acme', owners: ['bob'], members: 1, approved: false });
    expect((await ask(eve, 'GET', '/api/admin/orgs')).status).to.equal(403);
  });

  it('let members read, and owners and admins manage', async () => {
    expect((await add(bob, 'eve')).body).to.include({ userId: eve.id, role: 'member' });
    expect((await ask(eve, 'GET', at())).body).to.include({ role: 'member', members: 2 });
    for (const [method, path, body] of [
      ['PATCH', '', { name: 'Mine' }],
      ['POST', '/members', { username: 'ada' }],
      ['PATCH', `/members/${bob.id}`, { role: 'member' }],
      ['PATCH', `/members/${eve.id}`, { role: 'owner' }],
      ['DELETE', `/members/${bob.id}`],
      ['GET', '/invites'],
      ['POST', '/invites', {}],
      ['POST', '/transfer', { userId: eve.id }],
      ['GET', '/audit'],
      ['DELETE', '', { slug: 'acme' }],
    ] as const) {
      const { status, body: refused } = await ask(eve, method, at(path), body);
      expect([method, path, status, refused.code]).to.equal([method, path, 403, 'org_role']);
    }
    await ask(bob, 'PATCH', at(`/members/${eve.id}`), { role: 'admin' });
    expect((await ask(eve, 'PATCH', at(), { name: 'The acme' })).status).to.equal(200);
    expect((await add(eve, 'ada')).status).to.equal(201);
    expect((await add(eve, 'zoe', 'owner')).status).to.equal(400);
    for (const refused of [
      await ask(eve, 'PATCH', at(`/members/${eve.id}`), { role: 'owner' }),
      await ask(eve, 'PATCH', at(`/members/${bob.id}`), { role: 'member' }),
      await ask(eve, 'DELETE', at(`/members/${bob.id}`)),
      await ask(eve, 'DELETE', at(), { slug: 'acme' }),
    ]) {
      expect([refused.status, refused.body.code]).to.equal([403, 'org_role']);
    }
  });

  it('keep their last owner, whoever acts and however many at once', async () => {
    for (const refused of [
      await ask(bob, 'DELETE', at(`/members/${bob.id}`)),
      await ask(bob, 'PATCH', at(`/members/${bob.id}`), { role: 'member' }),
    ]) {
      expect([refused.status, refused.body.code]).to.equal([409, 'last_owner']);
    }
    await add(bob, 'eve');
    await ask(bob, 'PATCH', at(`/members/${eve.id}`), { role: 'owner' });
    const left = await Promise.all([
      ask(bob, 'PATCH', at(`/members/${eve.id}`), { role: 'member' }),
      ask(eve, 'PATCH', at(`/members/${bob.id}`), { role: 'member' }),
    ]);
    expect(left.map(({ status }) => status).sort()).to.equal([200, 409]);
    const owners = (await ask(admin, 'GET', '/api/admin/orgs')).body.orgs.find(
      ({ id }: { id: string }) => id === org,
    ).owners;
    expect(owners.length).to.equal(1);
    await app.app.store.db
      .updateTable('org_members')
      .set({ role: 'owner' })
      .where('user_id', '=', bob.id)
      .where('org_id', '=', org)
      .execute();
  });

  it('end for who leaves or is removed, at the next request', async () => {
    await add(bob, 'eve');
    expect((await ask(eve, 'DELETE', at(`/members/${eve.id}`))).status).to.equal(204);
    expect((await ask(eve, 'GET', at())).status).to.equal(404);
    await add(bob, 'eve');
    await ask(bob, 'DELETE', at(`/members/${eve.id}`));
    expect((await ask(eve, 'GET', at())).status).to.equal(404);
  });

  it('notify who was added, changed or removed by somebody else', async () => {
    const mia = await app.register('mia');
    await add(bob, 'mia');
    await ask(bob, 'PATCH', at(`/members/${mia.id}`), { role: 'admin' });
    await ask(bob, 'DELETE', at(`/members/${mia.id}`));
    expect((await titles(mia)).reverse()).to.equal([
      'You were added to the organization The acme',
      'Your role in the organization The acme was changed',
      'You were removed from the organization The acme',
    ]);
    await add(bob, 'mia');
    await ask(mia, 'DELETE', at(`/members/${mia.id}`));
    expect((await titles(mia)).length).to.equal(4);
  });

  it('are joined once with an invite, by the account it is for', async () => {
    const token = await invite({ role: 'admin' });
    const [first, second] = await Promise.all([join(eve, token), join(admin, token)]);
    expect([first?.status, second?.status].sort()).to.equal([200, 403]);
    expect((await join(eve, token)).body.code).to.equal('invite_refused');
    expect((await roles()).some((each) => each.endsWith(' admin'))).to.be.true();

    const bound = await invite({ email: 'somebody@example.org' });
    expect((await join(eve, bound)).body.code).to.equal('invite_refused');
    const sam = await app.call('POST', '/api/auth/register', {
      body: { username: 'sam', email: 'Somebody@example.org', password: 'correct horse battery' },
    });
    const joined = await join({ id: sam.body.user.id, token: sam.body.token }, bound);
    expect([joined.status, joined.body.role]).to.equal([200, 'member']);
  });

  it('refuse an invite that expired, was deleted, or whose author lost the right', async () => {
    const late = await invite({ expiresInHours: 1 });
    clock.forward(HOUR_MS);
    expect((await join(eve, late)).body.code).to.equal('invite_refused');

    const gone = await invite();
    const { invites } = (await ask(bob, 'GET', at('/invites'))).body;
    expect(invites[0]).to.include({ role: 'member', email: null, invitedBy: 'bob' });
    const path = at(`/invites/${invites[0].id}`);
    expect((await ask(bob, 'DELETE', path)).status).to.equal(204);
    expect((await ask(bob, 'DELETE', path)).status).to.equal(404);
    expect((await join(eve, gone)).body.code).to.equal('invite_refused');

    await add(bob, 'ada', 'admin');
    const theirs = (await ask(admin, 'POST', at('/invites'), {})).body.inviteToken;
    await ask(bob, 'PATCH', at(`/members/${admin.id}`), { role: 'member' });
    expect((await join(eve, theirs)).body.code).to.equal('invite_refused');
  });

  it('hold no more members than an admin allows', async () => {
    const limit = (maxMembers: number) =>
      ask(admin, 'PATCH', `/api/admin/orgs/${org}`, { maxMembers });
    const spare = await invite();
    await limit(2);
    const added = await Promise.all([add(bob, 'eve'), add(bob, 'ada')]);
    expect(added.map(({ status }) => status).sort()).to.equal([201, 409]);
    expect(added.find(({ status }) => status === 409)?.body.code).to.equal('org_full');
    const zoe = await app.call('POST', '/api/auth/login', {
      body: { username: 'zoe', password: 'correct horse battery' },
    });
    const refused = await join({ id: '', token: zoe.body.token }, spare);
    expect([refused.status, refused.body.code]).to.equal([409, 'org_full']);
    await limit(100);
    expect((await join({ id: '', token: zoe.body.token }, spare)).status).to.equal(200);
  });

  it('are transferred to a member, and the former owner becomes an admin', async () => {
    expect((await ask(bob, 'POST', at('/transfer'), { userId: eve.id })).status).to.equal(404);
    await add(bob, 'eve');
    const done = await ask(bob, 'POST', at('/transfer'), { userId: eve.id, password: PASSWORD });
    expect([done.status, done.body.role]).to.equal([200, 'admin']);
    expect(await roles()).to.equal(['eve owner', 'bob admin']);
    const back = await ask(eve, 'POST', at('/transfer'), { userId: bob.id, password: PASSWORD });
    expect(back.status).to.equal(200);
  });

  it('are approved by an installation admin alone', async () => {
    const path = `/api/admin/orgs/${org}`;
    expect((await ask(bob, 'PATCH', path, { approved: true })).status).to.equal(403);
    clock.forward(HOUR_MS);
    const stale = await ask(admin, 'PATCH', path, { approved: true });
    expect([stale.status, stale.body.code]).to.equal([403, 'password_required']);
    const done = await ask(admin, 'PATCH', path, { approved: true, password: PASSWORD });
    expect([done.status, done.body.approved]).to.equal([200, true]);
    expect((await ask(bob, 'GET', at())).body.approved).to.be.true();
    expect((await ask(admin, 'GET', '/api/admin/orgs?approved=true')).body.orgs.length).to.equal(1);
    expect((await ask(admin, 'PATCH', path, { approved: false })).body.approved).to.be.false();
    expect((await ask(admin, 'PATCH', path, { password: PASSWORD })).status).to.equal(400);
  });

  it('show their owners and admins what was done in them, and nothing else', async () => {
    await add(bob, 'eve');
    const { entries } = (await ask(bob, 'GET', at('/audit?limit=200'))).body;
    const actions = new Set(entries.map(({ action }: { action: string }) => action));
    expect([...actions].filter((action) => !String(action).startsWith('orgs.'))).to.equal([]);
    expect(actions.has('orgs.create')).to.be.true();
    expect(entries[0]).to.include({ action: 'orgs.member-add', actorName: 'bob', target: org });
    const newest = (await ask(bob, 'GET', at('/audit?limit=1'))).body;
    const next = (await ask(bob, 'GET', at(`/audit?limit=1&cursor=${newest.nextCursor}`))).body;
    expect(next.entries[0].number < newest.entries[0].number).to.be.true();
    const acting = { reason: 'a test', password: PASSWORD };
    const { token } = (await ask(admin, 'POST', `/api/admin/users/${eve.id}/impersonate`, acting))
      .body;
    await ask(bob, 'DELETE', at(`/members/${eve.id}`));
    const refused = await ask({ id: '', token }, 'DELETE', at(), { slug: 'acme' });
    expect(refused.body.code).to.equal('personal_only');
    const last = (await ask(bob, 'GET', at('/audit?limit=1'))).body.entries[0];
    expect(last).to.include({ action: 'orgs.member-remove', outcome: 'ok' });
  });

  it('are forced on nobody who owns as many as allowed, or is disabled', async () => {
    await add(bob, 'zoe');
    const member = (await ask(bob, 'GET', at('/members'))).body.members[0];
    for (const refused of [
      await ask(bob, 'PATCH', at(`/members/${member.userId}`), {
        role: 'owner',
        password: PASSWORD,
      }),
      await ask(bob, 'POST', at('/transfer'), { userId: member.userId, password: PASSWORD }),
    ]) {
      expect([refused.status, refused.body.code]).to.equal([409, 'too_many_orgs']);
    }
    await add(bob, 'eve');
    await ask(admin, 'PATCH', `/api/admin/users/${eve.id}`, { disabled: true });
    const disabled = await ask(bob, 'PATCH', at(`/members/${eve.id}`), {
      role: 'owner',
      password: PASSWORD,
    });
    expect([disabled.status, disabled.body.code]).to.equal([409, 'too_many_orgs']);
    await ask(admin, 'PATCH', `/api/admin/users/${eve.id}`, { disabled: false });
    const { body } = await app.call('POST', '/api/auth/login', {
      body: { username: 'eve', password: PASSWORD },
    });
    eve.token = body.token;
  });

  it('are deleted by an owner who names them, with members and invites', async () => {
    const doomed = await create(eve, 'doomed');
    clock.forward(HOUR_MS);
    const path = `/api/orgs/${doomed}`;
    const wrong = await ask(eve, 'DELETE', path, { slug: 'acme' });
    expect([wrong.status, wrong.body.details[0].path]).to.equal([400, 'slug']);
    const stale = await ask(eve, 'DELETE', path, { slug: 'doomed' });
    expect([stale.status, stale.body.code]).to.equal([403, 'password_required']);
    const done = await ask(eve, 'DELETE', path, { slug: 'doomed', password: PASSWORD });
    expect([done.status, (await ask(eve, 'GET', path)).status]).to.equal([204, 404]);
    const left = await app.app.store.db
      .selectFrom('org_members')
      .select('id')
      .where('org_id', '=', doomed)
      .execute();
    expect(left).to.equal([]);
  });
});

const PASSWORD = 'correct horse battery';
