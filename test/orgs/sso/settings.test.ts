import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PASSWORD, type Reply, startApp } from '../../harness/app.js';
import { type NameServer, startNameServer } from '../../harness/dns.js';
import { idpUser } from '../../harness/idp.js';
import { makeToken } from '../../harness/token.js';
import { begin, configure, EMAIL, lastResult, logIn, openStage, type Stage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const DAY_MS = 24 * 3600 * 1000;

describe('single sign-on settings', () => {
  let stage: Stage;
  let path: string;
  before(async () => {
    stage = await openStage();
    path = `/api/orgs/${stage.orgId}/sso`;
  });
  after(() => stage.stop());

  const ask = (method: string, at: string, body?: object, token = stage.ada.token) =>
    stage.app.call(method, at, { token, ...(body && { body }) });

  it('belong to owners, and are hidden from strangers', async () => {
    const eve = await stage.app.register('eve');
    expect((await ask('GET', path, undefined, eve.token)).status).to.equal(404);
    expect((await ask('PUT', path, { enabled: false }, eve.token)).status).to.equal(404);
    const members = `/api/orgs/${stage.orgId}/members`;
    await ask('POST', members, { username: 'eve', role: 'member' });
    expect((await ask('GET', path, undefined, eve.token)).status).to.equal(403);
    await ask('PATCH', `${members}/${eve.id}`, { role: 'admin' });
    expect((await ask('GET', path, undefined, eve.token)).status).to.equal(200);
    expect((await ask('PUT', path, { enabled: false }, eve.token)).status).to.equal(403);
  });

  it('need an approved organization, a fresh login and a public https address', async () => {
    const org = await ask('POST', '/api/orgs', { slug: 'fresh', name: 'Fresh' });
    const refused = await ask('PUT', `/api/orgs/${org.body.id}/sso`, { enabled: false });
    expect(refused.body.code).to.equal('org_not_approved');
    stage.clock.shift(11 * 60_000);
    expect((await configure(stage, {})).body.code).to.equal('password_required');
    expect((await configure(stage, { password: PASSWORD })).status).to.equal(200);
    stage.clock.shift(-11 * 60_000);
  });

  it('need a public https address once other machines reach the daemon', async () => {
    const app = await startApp({ config: { trustedProxies: ['127.0.0.1'] } });
    try {
      const { token } = await app.register('admin');
      const org = await app.call('POST', '/api/orgs', { token, body: { slug: 'acme', name: 'A' } });
      const approved = { approved: true };
      await app.call('PATCH', `/api/admin/orgs/${org.body.id}`, { token, body: approved });
      const { entityId, ssoUrl, certificate } = stage.idp;
      const idp = { entityId, ssoUrl, certificates: [certificate] };
      const put = (enabled: boolean) =>
        app.call('PUT', `/api/orgs/${org.body.id}/sso`, { token, body: { enabled, ...idp } });
      expect((await put(true)).body.code).to.equal('public_url_required');
      expect((await put(false)).body.serviceProvider).to.equal(null);
      await app.restart({ publicUrl: 'https://adjutant.example' });
      expect((await put(true)).body.serviceProvider).to.equal({
        entityId: 'https://adjutant.example/api/saml/metadata?org=acme',
        acsUrl: 'https://adjutant.example/api/saml/acs',
      });
    } finally {
      await app.stop();
    }
  });

  it('show what to enter at the identity provider', async () => {
    const { body } = await ask('GET', path);
    const { url } = stage.app;
    expect(body.serviceProvider).to.equal({
      entityId: `${url}/api/saml/metadata?org=acme`,
      acsUrl: `${url}/api/saml/acs`,
    });
    const metadata = await stage.app.call('GET', '/api/saml/metadata?org=acme');
    expect(metadata.headers['content-type']).to.match(/^application\/samlmetadata\+xml/);
    expect(metadata.text).to.include(`entityID="${url}/api/saml/metadata?org=acme"`);
    expect(metadata.text).to.include(`Location="${url}/api/saml/acs"`);
    const only = await stage.app.call('GET', '/api/saml/metadata');
    expect(only.text).to.include(`entityID="${url}/api/saml/metadata?org=acme"`);
    expect((await ask('GET', `/api/orgs/${stage.orgId}`)).body.sso).to.equal({
      enabled: true,
      enforced: false,
      domains: [],
    });
  });

  it('name each invalid field', async () => {
    const faults = async (changes: object) => {
      const { body } = await configure(stage, changes);
      return body.details.map((each: { path: string }) => each.path);
    };
    expect(await faults({ certificates: ['none'] })).to.equal(['certificates.0']);
    expect(await faults({ certificates: [] })).to.equal(['certificates']);
    expect(await faults({ ssoUrl: 'http://idp.acme.example/' })).to.equal(['ssoUrl']);
    expect(await faults({ domains: ['acme.example'] })).to.equal(['domains.0']);
    expect(await faults({ metadataXml: '<a/>' })).to.equal(['metadataXml']);
    expect(await faults({ metadataXml: '<!DOCTYPE a><a/>' })).to.equal(['metadataXml']);
    expect(await faults({ metadataUrl: 'http://127.0.0.1:9/' })).to.equal(['metadataUrl']);
  });

  it('hold the roles of groups also without an identity provider for logins', async () => {
    const { body } = await ask('POST', '/api/orgs', { slug: 'groups', name: 'Groups' });
    const at = `/api/orgs/${body.id}/sso`;
    await ask('PATCH', `/api/admin/orgs/${body.id}`, { approved: true }, stage.admin.token);
    const groupRoles = { admins: 'admin' };
    const saved = await ask('PUT', at, { groupRoles });
    expect([saved.status, saved.body.groupRoles]).to.equal([200, groupRoles]);
    const refused = await ask('PUT', at, { enabled: true });
    const paths = refused.body.details.map((each: { path: string }) => each.path);
    expect(paths).to.equal(['entityId', 'ssoUrl', 'certificates']);
  });

  it('come from the metadata of the identity provider', async () => {
    const base64 = stage.keys.certificate.replace(/-----[^-]+-----/g, '');
    const binding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP';
    const metadataXml = `<md:EntityDescriptor xmlns:md="urn:md" entityID="https://idp.acme.example/2">
      <md:IDPSSODescriptor><md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="urn:ds"><ds:X509Data>
      <ds:X509Certificate>${base64}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
      <md:SingleSignOnService Binding="${binding}-POST" Location="https://idp.acme.example/post"/>
      <md:SingleSignOnService Binding="${binding}-Redirect" Location="https://idp.acme.example/in"/>
      </md:IDPSSODescriptor></md:EntityDescriptor>`;
    const { body } = await ask('PUT', path, { metadataXml });
    expect(body).to.include({
      enabled: true,
      entityId: 'https://idp.acme.example/2',
      ssoUrl: 'https://idp.acme.example/in',
    });
    expect(body.certificates[0].trim()).to.equal(stage.keys.certificate.trim());
    await configure(stage, {});
  });

  /** Calls `meanwhile` once, between the read and the write of the next change of settings. */
  const beforeSaving = (meanwhile: () => Promise<void>): void => {
    const { store } = stage.app.app;
    const { tryTransact } = store;
    store.tryTransact = async (steps) => {
      if (steps.some((step) => 'sql' in step && /^insert into "org_sso"/.test(step.sql))) {
        store.tryTransact = tryTransact;
        await meanwhile();
      }
      return tryTransact(steps);
    };
  };

  it('keep the changes of two owners who save at the same time', async () => {
    const zoe = await stage.app.register('zoe');
    const members = `/api/orgs/${stage.orgId}/members`;
    await ask('POST', members, { username: 'zoe' });
    await ask('PATCH', `${members}/${zoe.id}`, { role: 'owner' });
    let other: Reply | undefined;
    beforeSaving(async () => {
      other = await ask('PUT', path, { tokenDays: 7, enforced: true }, zoe.token);
    });
    const first = await ask('PUT', path, { defaultRole: 'admin' });
    const wanted = { tokenDays: 7, enforced: true, defaultRole: 'admin', enabled: true };
    expect([first.status, other?.status]).to.equal([200, 200]);
    expect((await ask('GET', path)).body).to.include(wanted);
    expect(first.body).to.include(wanted);
    expect(first.body.updatedAt > other?.body.updatedAt).to.equal(true);
    await ask('DELETE', `${members}/${zoe.id}`);
    await configure(stage, { tokenDays: 30, enforced: false, defaultRole: 'member' });
  });

  it('are complete after two owners set them up at the same time', async () => {
    const org = await ask('POST', '/api/orgs', { slug: 'pair', name: 'Pair' });
    const approve = `/api/admin/orgs/${org.body.id}`;
    await ask('PATCH', approve, { approved: true }, stage.admin.token);
    const at = `/api/orgs/${org.body.id}/sso`;
    expect((await ask('GET', at)).body.updatedAt).to.equal(null);
    const missing = await ask('PUT', at, { enabled: true, tokenDays: 5 });
    expect(missing.body.details.map((each: { path: string }) => each.path)).to.equal([
      'entityId',
      'ssoUrl',
      'certificates',
    ]);
    const { entityId, ssoUrl, certificate } = stage.idp;
    const idp = { entityId, ssoUrl, certificates: [certificate] };
    let other: Reply | undefined;
    beforeSaving(async () => {
      other = await ask('PUT', at, { ...idp, tokenDays: 5 });
    });
    const first = await ask('PUT', at, { ...idp, enabled: true });
    expect([first.status, other?.status]).to.equal([200, 200]);
    expect((await ask('GET', at)).body).to.include({ tokenDays: 5, enabled: true });
  });

  it('end all logins when they are off, or the approval is withdrawn', async () => {
    await configure(stage, { enabled: false });
    const login = () => stage.app.call('GET', '/api/saml/login?org=acme');
    expect((await login()).body.code).to.equal('sso_not_enabled');
    expect((await stage.app.call('GET', '/api/saml/login?org=nobody')).body.message).to.equal(
      (await login()).body.message,
    );
    const tested = await ask('POST', `${path}/test`);
    expect(tested.body).to.include({ ready: false, problems: ['Single sign-on is not enabled'] });
    await configure(stage, {});
    const approve = (approved: boolean) =>
      ask('PATCH', `/api/admin/orgs/${stage.orgId}`, { approved }, stage.admin.token);
    await approve(false);
    expect((await login()).status).to.equal(404);
    await approve(true);
    expect((await login()).status).to.equal(302);
  });

  it('keep the last 20 results', async () => {
    for (let n = 0; n < 25; n++) {
      const { cookie, relayState } = await begin(stage.app);
      await stage.app.call('POST', '/api/saml/acs', {
        type: 'application/x-www-form-urlencoded',
        body: `SAMLResponse=x&RelayState=${relayState}`,
        headers: { cookie },
      });
    }
    const { body } = await ask('POST', `${path}/test`);
    expect(body.results).to.have.length(20);
    expect(await lastResult(stage)).to.include({ code: 'saml_malformed', nameId: null });
  });

  it('make managed accounts use single sign-on, if enforced, except owners', async () => {
    const { app, admin } = stage;
    const { user } = (await logIn(stage, idpUser('lee'))).body;
    const reset = await ask('POST', `/api/admin/users/${user.id}/invite`, {}, admin.token);
    const body = { inviteToken: reset.body.inviteToken, password: PASSWORD };
    const set = await app.call('POST', '/api/auth/reset', { body });
    expect(set.status, set.text).to.be.below(300);
    const login = (password = PASSWORD) =>
      app.call('POST', '/api/auth/login', { body: { username: user.username, password } });
    expect((await login()).status).to.equal(200);
    await configure(stage, { enforced: true });
    expect((await login('wrong but long enough')).body.code).to.be.undefined();
    const refused = await login();
    expect({ status: refused.status, code: refused.body.code }).to.equal({
      status: 403,
      code: 'sso_required',
    });
    expect((await logIn(stage, idpUser('lee'))).status).to.equal(200);
    await ask('PATCH', `/api/orgs/${stage.orgId}/members/${user.id}`, { role: 'owner' });
    expect((await login()).status).to.equal(200);
    const own = { username: 'ada', password: PASSWORD };
    expect((await app.call('POST', '/api/auth/login', { body: own })).status).to.equal(200);
    await configure(stage, { enforced: false });
  });

  it('end personal access tokens some days after the last login', async () => {
    const { app, clock } = stage;
    await configure(stage, { tokenDays: 2 });
    const { token } = (await logIn(stage, idpUser('mia'))).body;
    const made = await makeToken(app, token);
    const works = async () =>
      (await app.call('GET', '/api/auth/me', { token: made.token })).status === 200;
    clock.shift(2 * DAY_MS - 1000);
    expect(await works()).to.equal(true);
    clock.shift(3000);
    expect(await works()).to.equal(false);
    clock.shift(-2 * DAY_MS - 2000);
    await logIn(stage, idpUser('mia'));
    expect(await works()).to.equal(true);
  });
});

describe('the domains of an organization', () => {
  let stage: Stage;
  let dns: NameServer;
  let path: string;
  before(async () => {
    stage = await openStage();
    dns = await startNameServer();
    path = `/api/orgs/${stage.orgId}/domains`;
  });
  after(async () => {
    dns.stop();
    await stage.stop();
  });

  const ask = (method: string, at: string, body?: object) =>
    stage.app.call(method, at, { token: stage.ada.token, ...(body && { body }) });

  it('are verified by a DNS record, and then decide which e-mail addresses accounts get', async () => {
    const added = await ask('POST', path, { domain: 'Acme.example' });
    expect(added.status, added.text).to.equal(201);
    expect(added.body).to.include({
      domain: 'acme.example',
      name: '_adjutant.acme.example',
      verifiedAt: null,
    });
    const again = await ask('POST', path, { domain: 'acme.example' });
    expect(again.body.code).to.equal('domain_exists');
    const verify = () => ask('POST', `${path}/acme.example/verify`);
    expect((await verify()).body.code).to.equal('domain_not_verified');
    dns.texts.set('_adjutant.acme.example', 'another value');
    expect((await verify()).body.code).to.equal('domain_not_verified');
    dns.texts.set('_adjutant.acme.example', added.body.value);
    const verified = await verify();
    expect(verified.body.verifiedAt, verified.text).to.be.a.string();
    expect((await ask('GET', path)).body.domains).to.equal([verified.body]);
    const attributes = { username: null, email: EMAIL, name: null, groups: null };
    await configure(stage, { domains: ['acme.example'], attributes });
    expect((await logIn(stage, idpUser('ned'))).body.user.email).to.equal('grace@acme.example');
    const other = idpUser('oda', { emails: [{ value: 'oda@other.example' }] });
    expect((await logIn(stage, other)).body.user.email).to.equal(null);
    // The address is taken now.
    expect((await logIn(stage, idpUser('pia'))).body.user.email).to.equal(null);
  });

  it('belong to one organization, and leave the settings when they are deleted', async () => {
    const org = await ask('POST', '/api/orgs', { slug: 'rival', name: 'Rival' });
    const theirs = `/api/orgs/${org.body.id}/domains`;
    const added = await ask('POST', theirs, { domain: 'acme.example' });
    dns.texts.set('_adjutant.acme.example', added.body.value);
    const taken = await ask('POST', `${theirs}/acme.example/verify`);
    expect(taken.body.code).to.equal('domain_taken');
    expect((await ask('DELETE', `${path}/acme.example`)).status).to.equal(204);
    expect((await ask('DELETE', `${path}/acme.example`)).status).to.equal(404);
    const { body } = await ask('GET', `/api/orgs/${stage.orgId}/sso`);
    expect(body.domains).to.equal([]);
    expect((await ask('POST', `${theirs}/acme.example/verify`)).status).to.equal(200);
  });
});
