import { once } from 'node:events';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { WebSocket } from 'ws';
import { PASSWORD } from '../../harness/app.js';
import { createKeyPair, idpUser } from '../../harness/idp.js';
import { makeToken } from '../../harness/token.js';
import {
  answer,
  begin,
  codeOf,
  configure,
  EMAIL,
  formOf,
  GROUPS,
  lastResult,
  logIn,
  makeOrg,
  openStage,
  post,
  redeem,
  rightFor,
  type Stage,
  send,
  startedBy,
  syncClock,
} from './stage.js';

export const lab = Lab.script();
const { describe, it, before, beforeEach, after } = lab;

const HOUR_MS = 3600 * 1000;

describe('a login with single sign-on', () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
  });
  after(() => stage.stop());
  beforeEach(() => syncClock(stage));

  const me = async (token: string) => (await stage.app.call('GET', '/api/auth/me', { token })).body;
  const memberOf = async (userId: string) => {
    const path = `/api/orgs/${stage.orgId}/members`;
    const { body } = await stage.app.call('GET', path, { token: stage.ada.token });
    return body.members.find((each: { userId: string }) => each.userId === userId);
  };

  it('makes an account of the organization, and finds it again by NameID', async () => {
    const first = await logIn(stage);
    expect(first.status, first.text).to.equal(200);
    const { user } = first.body;
    expect(user.username).to.match(/^acme-\d+$/);
    expect(user.role).to.equal('user');
    expect(first.body.returnTo).to.equal('/');
    expect((await memberOf(user.id)).role).to.equal('member');
    expect((await me(first.body.token)).id).to.equal(user.id);
    const again = await logIn(stage);
    expect(again.body.user.id).to.equal(user.id);
    expect(await lastResult(stage)).to.include({ code: null, nameId: 'grace' });
  });

  it('returns to the path, in the same browser, once', async () => {
    const started = await begin(stage.app, 'acme', '/approvals');
    const accepted = await post(stage.app, await answer(started), started.cookie);
    expect(accepted.status).to.equal(303);
    const code = codeOf(accepted);
    const other = await redeem(stage.app, { code, cookie: `${started.cookie}x` });
    expect(other.status).to.equal(401);
    const right = await redeem(stage.app, { code, cookie: started.cookie });
    expect(right.body.returnTo).to.equal('/approvals');
    expect((await redeem(stage.app, { code, cookie: started.cookie })).status).to.equal(401);
  });

  it('refuses to return to another origin', async () => {
    for (const returnTo of ['//evil.example', '/\\evil.example', 'https://evil.example', '/\t/e']) {
      const query = new URLSearchParams({ org: 'acme', returnTo });
      const reply = await stage.app.call('GET', `/api/saml/login?${query}`);
      expect(reply.status, returnTo).to.equal(400);
    }
  });

  it('sets a cookie that only this host and https can set', async () => {
    const reply = await stage.app.call('GET', '/api/saml/login?org=acme');
    expect(reply.headers['set-cookie']).to.match(
      /^__Host-adjutant-saml=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; Secure; SameSite=None$/,
    );
  });

  it('gives the page of the daemon a login cookie', async () => {
    const started = await begin(stage.app);
    const accepted = await post(stage.app, await answer(started), started.cookie);
    const reply = await stage.app.call('POST', '/api/saml/session', {
      body: { code: codeOf(accepted) },
      headers: { cookie: started.cookie, origin: stage.app.url, 'x-adjutant-page': '1' },
    });
    expect(reply.headers['set-cookie']).to.match(/^adjutant-\d+=.+SameSite=Strict/);
    const cookie = reply.headers['set-cookie']?.split(';')[0] ?? '';
    const seen = await stage.app.call('GET', '/api/auth/me', {
      headers: { cookie, 'x-adjutant-page': reply.body.token },
    });
    expect(seen.body.id).to.equal(reply.body.user.id);
  });

  it('never finds a local account by its name or e-mail address', async () => {
    const { app } = stage;
    const local = await app.call('POST', '/api/auth/register', {
      body: { username: 'linus', password: PASSWORD, email: 'linus@acme.example' },
    });
    await configure(stage, { attributes: attributes({ email: EMAIL }) });
    for (const nameId of ['linus', 'admin', 'ada', 'linus@acme.example']) {
      const user = idpUser(nameId, { emails: [{ value: 'linus@acme.example' }] });
      const { body } = await logIn(stage, user);
      expect(body.user.role).to.equal('user');
      expect([local.body.user.id, stage.ada.id, stage.admin.id]).not.to.include(body.user.id);
      expect(body.user.email).to.equal(null);
    }
  });

  it('gives the roles of groups, never that of an owner or an admin of the installation', async () => {
    const settings = { attributes: attributes({ groups: GROUPS }), groupRoles: { Ops: 'admin' } };
    await configure(stage, settings);
    const owner = await configure(stage, { ...settings, groupRoles: { Ops: 'owner' } });
    expect(owner.status).to.equal(400);
    const made = await logIn(stage, idpUser('hal', { groups: ['Ops', 'owner'] }));
    const { id, role } = made.body.user;
    expect(role).to.equal('user');
    expect((await memberOf(id)).role).to.equal('admin');
    await logIn(stage, idpUser('hal', { groups: ['Sales'] }));
    expect((await memberOf(id)).role).to.equal('member');
    const path = `/api/orgs/${stage.orgId}/members/${id}`;
    const body = { role: 'owner' };
    await stage.app.call('PATCH', path, { token: stage.ada.token, body });
    await logIn(stage, idpUser('hal', { groups: ['Sales'] }));
    expect((await memberOf(id)).role).to.equal('owner');
  });

  it('keeps the role of a user whose groups Entra leaves out', async () => {
    const settings = { attributes: attributes({ groups: GROUPS }), groupRoles: { Ops: 'admin' } };
    await configure(stage, settings);
    const { id } = (await logIn(stage, idpUser('many', { groups: ['Ops'] }))).body.user;
    const link = 'http://schemas.microsoft.com/claims/groups.link';
    stage.idp.setEdit((xml) =>
      xml.replace(
        '</saml:AttributeStatement>',
        `<saml:Attribute Name="${link}"><saml:AttributeValue>https://graph.example</saml:AttributeValue></saml:Attribute>$&`,
      ),
    );
    await logIn(stage, idpUser('many'));
    stage.idp.setEdit(undefined);
    expect((await memberOf(id)).role).to.equal('admin');
    await logIn(stage, idpUser('many'));
    expect((await memberOf(id)).role).to.equal('member');
  });

  it('ends with the session at the identity provider, at most after 12 hours', async () => {
    const until = new Date(stage.clock.now() + HOUR_MS).toISOString();
    const expiry = async (edit: (xml: string) => string) => {
      const started = await begin(stage.app);
      const xml = await stage.idp.respond({ ...rightFor(stage.app, started), edit });
      const accepted = await post(stage.app, formOf(xml, started.relayState), started.cookie);
      const login = await redeem(stage.app, { code: codeOf(accepted), cookie: started.cookie });
      const { token } = login.body;
      const refreshed = await stage.app.call('POST', '/api/auth/refresh', { token });
      expect(refreshed.body.expiresAt).to.equal(login.body.expiresAt);
      return Date.parse(login.body.expiresAt) - stage.clock.now();
    };
    expect(await expiry(sessionUntil(until))).to.be.within(HOUR_MS - 1000, HOUR_MS);
    expect(await expiry((xml) => xml)).to.be.within(12 * HOUR_MS - 1000, 12 * HOUR_MS);
  });

  it('passes to a program, for no longer than the session', async () => {
    const { body } = await logIn(stage);
    const { createHash, randomBytes } = await import('node:crypto');
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const granted = await stage.app.call('POST', '/api/auth/passkey/grant', {
      token: body.token,
      body: { challenge },
    });
    const login = await stage.app.call('POST', '/api/auth/passkey/redeem', {
      body: { code: granted.body.code, verifier, device: 'CLI on laptop' },
    });
    expect(login.body.expiresAt).to.equal(body.expiresAt);
    const { sessions } = (
      await stage.app.call('GET', '/api/auth/sessions', { token: login.body.token })
    ).body;
    expect(sessions.find((each: { current: boolean }) => each.current).device).to.equal(null);
  });

  it('keeps the program of a login through the identity provider', async () => {
    const cli = `8123.${'s'.repeat(43)}.${'c'.repeat(43)}`;
    const started = await begin(stage.app, 'acme', `/sso#cli=${cli}`);
    const accepted = await post(stage.app, await answer(started), started.cookie);
    expect(accepted.headers.location).to.match(/^\/sso#code=[\w-]{43}&cli=8123\./);
  });

  it('asks before a login that the page did not start', async () => {
    const { app, idp } = stage;
    idp.logIn(idpUser('olga'));
    const started = await begin(app);
    const accepted = await post(app, await answer(started), started.cookie);
    const login = { code: codeOf(accepted), cookie: started.cookie };
    const asked = await redeem(app, { ...login, confirmed: false });
    expect([asked.status, asked.body.code]).to.equal([409, 'confirmation_required']);
    expect(asked.body.message).to.contain('asks to log in this browser as acme-');
    expect((await redeem(app, { ...login, confirmed: true })).status).to.equal(200);
  });

  it('asks before a login that the identity provider starts', async () => {
    const { app, idp } = stage;
    const refused = await post(app, formOf(await idp.respond(rightFor(app, null))), undefined);
    expect(refused.body.code).to.equal('saml_unsolicited');
    await configure(stage, { allowIdpInitiated: true });
    const xml = await idp.respond(rightFor(app, null));
    const accepted = await post(app, formOf(xml), undefined);
    expect(accepted.status, accepted.text).to.equal(303);
    const cookie = accepted.headers['set-cookie']?.split(';')[0] ?? '';
    const code = codeOf(accepted);
    const asks = await redeem(app, { code, cookie });
    expect({ status: asks.status, code: asks.body.code }).to.equal({
      status: 409,
      code: 'confirmation_required',
    });
    expect(asks.body.message).to.match(/identity provider of acme asks .* as acme-\d+/);
    expect((await redeem(app, { code, cookie, confirmed: true })).status).to.equal(200);
    const again = await post(app, formOf(xml), undefined);
    expect(again.body.code).to.equal('saml_replayed');
    await configure(stage, { allowIdpInitiated: false });
  });

  it('refuses a disabled account and an ended membership', async () => {
    const { app, admin, ada, orgId } = stage;
    const made = await logIn(stage, idpUser('ivy'));
    const { id } = made.body.user;
    const path = `/api/admin/users/${id}`;
    await app.call('PATCH', path, { token: admin.token, body: { disabled: true } });
    expect((await logIn(stage, idpUser('ivy'))).body.code).to.equal('account_disabled');
    await app.call('PATCH', path, { token: admin.token, body: { disabled: false } });
    await app.call('DELETE', `/api/orgs/${orgId}/members/${id}`, { token: ada.token });
    expect((await logIn(stage, idpUser('ivy'))).body.code).to.equal('membership_ended');
    expect(await lastResult(stage)).to.include({ code: 'membership_ended', nameId: 'ivy' });
    await logIn(stage, idpUser('ivy'));
    const denied = await app.app.store.db
      .selectFrom('audit')
      .select(['action', 'target', 'data'])
      .where('actor_id', '=', id)
      .where('outcome', '=', 'denied')
      .execute();
    expect(denied.map(({ data, ...each }) => ({ ...each, ...JSON.parse(data ?? '') }))).to.equal(
      ['account_disabled', 'membership_ended'].map((code) => ({
        action: 'auth.sso',
        target: orgId,
        code,
        nameId: 'ivy',
      })),
    );
  });

  it('refuses an account that became an admin of the installation', async () => {
    const { app, admin } = stage;
    const { user, token } = (await logIn(stage, idpUser('joe'))).body;
    const path = `/api/admin/users/${user.id}`;
    await app.call('PATCH', path, { token: admin.token, body: { role: 'admin' } });
    expect((await app.call('GET', '/api/auth/me', { token })).status).to.equal(401);
    expect((await logIn(stage, idpUser('joe'))).body.code).to.equal('admin_account');
  });

  it('keeps to the maximum of members', async () => {
    const path = `/api/admin/orgs/${stage.orgId}`;
    const limit = (maxMembers: number) =>
      stage.app.call('PATCH', path, { token: stage.admin.token, body: { maxMembers } });
    await limit(1);
    expect((await logIn(stage, idpUser('kim'))).body.code).to.equal('org_full');
    await limit(100);
    expect((await logIn(stage, idpUser('kim'))).status).to.equal(200);
  });

  it('binds a user that the identity provider provisioned, once', async () => {
    const { db } = stage.app.app.store;
    const provision = async (userName: string, change: object) => {
      const { user } = (await logIn(stage, idpUser(userName))).body;
      await db
        .updateTable('org_identities')
        .set({ issuer: null, name_id: null, ...change })
        .where('user_id', '=', user.id)
        .execute();
      return user.id;
    };
    const byExternalId = await provision('uma', { external_id: 'ext-1' });
    const byName = await provision('vic', {});
    const inactive = await provision('wim', { active: 0 });
    expect((await logIn(stage, idpUser('ext-1'))).body.user.id).to.equal(byExternalId);
    expect((await logIn(stage, idpUser('ext-1'))).body.user.id).to.equal(byExternalId);
    expect((await logIn(stage, idpUser('VIC'))).body.user.id).to.equal(byName);
    expect((await logIn(stage, idpUser('wim'))).body.code).to.equal('identity_inactive');
    // The name of a bound identity gives nobody else its account.
    expect((await logIn(stage, idpUser('uma'))).body.code).to.equal('identity_conflict');
    expect(inactive).to.be.a.string();
  });

  it('links an account only for its owner, who is logged in', async () => {
    const { app, idp, orgId, admin, ada } = stage;
    const path = `/api/orgs/${orgId}/sso/link`;
    const max = await app.register('max');
    const stranger = await app.call('POST', path, { token: max.token, body: {} });
    expect(stranger.status).to.equal(404);
    const body = { username: 'max' };
    await app.call('POST', `/api/orgs/${orgId}/members`, { token: ada.token, body });
    const reply = await app.call('POST', path, { token: max.token, body: {} });
    const started = await startedBy(reply.headers['set-cookie'] ?? '', reply.body.url);
    idp.logIn(idpUser('max.mustermann'));
    const accepted = await post(app, await answer(started), started.cookie);
    expect(accepted.headers.location).to.equal('/sso#linked');
    const login = await logIn(stage, idpUser('max.mustermann'));
    expect(login.body.user.id).to.equal(max.id);
    expect((await memberOf(max.id)).displayName).to.equal('max.mustermann');
    const { entries } = (await app.call('GET', `/api/orgs/${orgId}/audit`, ada)).body;
    const linking = entries.filter(({ action }: { action: string }) => /^sso.link/.test(action));
    expect(
      linking
        .filter(({ outcome }: { outcome: string }) => outcome === 'ok')
        .map((each: { action: string; data: object }) => [each.action, each.data]),
    ).to.equal([
      ['sso.link', { nameId: 'max.mustermann' }],
      ['sso.link-start', { userId: max.id }],
    ]);
    // Whoever leaves is no longer linked, also if the organization adds the account again.
    await app.call('DELETE', `/api/orgs/${orgId}/members/${max.id}`, { token: max.token });
    await app.call('POST', `/api/orgs/${orgId}/members`, { token: ada.token, body });
    const again = await logIn(stage, idpUser('max.mustermann'));
    expect(again.body.user.id).to.not.equal(max.id);
    await app.call('POST', `/api/orgs/${orgId}/members`, {
      token: ada.token,
      body: { username: 'admin' },
    });
    const refused = await app.call('POST', path, { token: admin.token, body: {} });
    expect(refused.body.code).to.equal('admin_account');
  });

  it('enters no account that its owner has unlinked', async () => {
    const { app, idp, orgId, ada } = stage;
    const path = `/api/orgs/${orgId}/sso/link`;
    const tom = await app.register('tom');
    const unlink = (token: string) => app.call('DELETE', path, { token });
    expect((await unlink(tom.token)).status).to.equal(404);
    const body = { username: 'tom' };
    await app.call('POST', `/api/orgs/${orgId}/members`, { token: ada.token, body });
    const never = await unlink(tom.token);
    expect([never.status, never.body.message]).to.equal([
      404,
      'Your account is not linked to the identity provider of the organization',
    ]);
    const reply = await app.call('POST', path, { token: tom.token, body: {} });
    const started = await startedBy(reply.headers['set-cookie'] ?? '', reply.body.url);
    idp.logIn(idpUser('tom.sawyer'));
    await post(app, await answer(started), started.cookie);
    // A login under way at that moment.
    const other = await begin(app);
    const accepted = await post(app, await answer(other), other.cookie);
    expect((await unlink(tom.token)).status).to.equal(204);
    const late = await redeem(app, { code: codeOf(accepted), cookie: other.cookie });
    expect([late.status, late.body.user]).to.equal([401, undefined]);
    expect((await logIn(stage, idpUser('tom.sawyer'))).body.user.id).to.not.equal(tom.id);
    expect((await memberOf(tom.id)).role).to.equal('member');
    expect((await me(tom.token)).id).to.equal(tom.id);
    const { entries } = (await app.call('GET', `/api/orgs/${orgId}/audit`, ada)).body;
    const recorded = entries.filter(({ action }: { action: string }) => action === 'sso.unlink');
    expect(
      recorded.map((each: { outcome: string; data: object }) => [each.outcome, each.data]),
    ).to.equal([
      ['ok', { userId: tom.id }],
      ['failed', { status: 404 }],
    ]);
  });

  it('unlinks no account that the organization manages', async () => {
    const { user, token } = (await logIn(stage, idpUser('sid'))).body;
    const path = `/api/orgs/${stage.orgId}/sso/link`;
    const { status, body } = await stage.app.call('DELETE', path, { token });
    expect([status, body.code]).to.equal([409, 'account_managed']);
    expect((await logIn(stage, idpUser('sid'))).body.user.id).to.equal(user.id);
  });

  it('ends with the membership, also for open sockets', async () => {
    const { app, orgId, ada } = stage;
    const first = (await logIn(stage, idpUser('huck'))).body;
    const second = (await logIn(stage, idpUser('huck'))).body;
    const userId = first.user.id;
    const pat = (await makeToken(app, first.token)).token;
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}/ws?token=${second.token}`);
    await once(socket, 'open');
    const closed = once(socket, 'close');
    const path = `/api/orgs/${orgId}/members/${userId}`;
    expect((await app.call('DELETE', path, { token: ada.token })).status).to.equal(204);
    for (const token of [first.token, second.token, pat]) {
      expect((await me(token)).statusCode).to.equal(401);
    }
    expect((await closed)[0]).to.equal(4401);
  });

  it('links no account that another identity provider manages', async () => {
    const { app, ada } = stage;
    const managed = (await logIn(stage, idpUser('nina'))).body;
    const other = await makeOrg(stage, 'other');
    expect((await configure({ ...stage, orgId: other }, {})).status).to.equal(200);
    const body = { username: managed.user.username };
    await app.call('POST', `/api/orgs/${other}/members`, { token: ada.token, body });
    const path = `/api/orgs/${other}/sso/link`;
    const reply = await app.call('POST', path, { token: managed.token, body: {} });
    const started = await startedBy(reply.headers['set-cookie'] ?? '', reply.body.url);
    stage.idp.logIn(idpUser('nina.elsewhere'));
    const refused = await post(app, await answer(started), started.cookie);
    expect(refused.body.code).to.equal('account_not_linkable');
  });

  it('accepts every certificate in the settings, for a change of keys', async () => {
    const [old, next] = [stage.keys, createKeyPair()];
    const use = (...certificates: string[]) => configure(stage, { certificates });
    const statuses = async () => [
      (await send(stage, { keys: old })).status,
      (await send(stage, { keys: next })).status,
    ];
    expect(await statuses()).to.equal([303, 401]);
    await use(old.certificate, next.certificate);
    expect(await statuses()).to.equal([303, 303]);
    await use(next.certificate);
    expect(await statuses()).to.equal([401, 303]);
    expect((await lastResult(stage)).code).to.equal(null);
    await use(old.certificate);
  });

  it('ends with a logout, and with the session at the identity provider', async () => {
    const { app, clock, idp } = stage;
    const [first, second] = [(await logIn(stage)).body, (await logIn(stage)).body];
    const logout = await app.call('POST', '/api/auth/logout', { token: first.token });
    expect([logout.status, (await me(first.token)).statusCode]).to.equal([204, 401]);
    expect((await me(second.token)).id).to.equal(first.user.id);
    idp.setEdit(sessionUntil(new Date(clock.now() + HOUR_MS).toISOString()));
    const { token } = (await logIn(stage)).body;
    idp.setEdit(undefined);
    // Tokens count in seconds.
    clock.shift(HOUR_MS - 1000);
    expect((await me(token)).id).to.equal(first.user.id);
    clock.shift(1000);
    expect((await me(token)).statusCode).to.equal(401);
    const refreshed = await app.call('POST', '/api/auth/refresh', { token });
    expect(refreshed.status).to.equal(401);
    expect((await me(second.token)).id).to.equal(first.user.id);
    clock.shift(-HOUR_MS);
  });

  it('gives one user of an identity provider an account in each organization behind it', async () => {
    const { app, orgId } = stage;
    const twin = await makeOrg(stage, 'twin');
    await configure({ ...stage, orgId: twin }, {});
    const mine = (await logIn(stage, idpUser('eve'))).body;
    const theirs = (await logIn(stage, idpUser('eve'), 'twin')).body;
    expect([mine.user.username, theirs.user.username].map((name) => name.split('-')[0])).to.equal([
      'acme',
      'twin',
    ]);
    const orgsOf = async (token: string) =>
      (await app.call('GET', '/api/orgs', { token })).body.orgs.map(({ id }: { id: string }) => id);
    expect([await orgsOf(mine.token), await orgsOf(theirs.token)]).to.equal([[orgId], [twin]]);
    for (const [token, id] of [
      [mine.token, twin],
      [theirs.token, orgId],
    ]) {
      expect((await app.call('GET', `/api/orgs/${id}`, { token })).status).to.equal(404);
    }
    // Removed here, the user is still a member there.
    const path = `/api/orgs/${orgId}/members/${mine.user.id}`;
    await app.call('DELETE', path, { token: stage.ada.token });
    expect((await me(mine.token)).statusCode).to.equal(401);
    expect((await me(theirs.token)).id).to.equal(theirs.user.id);
  });
});

const sessionUntil = (end: string) => (xml: string) =>
  xml.replace('<saml:AuthnStatement ', `<saml:AuthnStatement SessionNotOnOrAfter="${end}" `);

const attributes = (names: object) => ({
  username: null,
  email: null,
  name: null,
  groups: null,
  ...names,
});
