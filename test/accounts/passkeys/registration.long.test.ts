import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PASSWORD } from '../../harness/app.js';
import { unless, withChromium } from './browser.js';
import { type Member, openStage, type Stage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const REGISTER = '/api/auth/passkey/register';
const LIST = '/api/auth/passkeys';

let stage: Stage;
let ada: Member;
let bob: { id: string; token: string };

before(async () => {
  stage = await openStage();
  if (!withChromium.skip) ada = await stage.enter('ada');
  bob = await stage.app.register('bob');
});
after(() => stage.close());

const register = (token: string, body: object) => stage.app.call('POST', REGISTER, { token, body });
const listed = async (token: string) =>
  (await stage.app.call('GET', LIST, { token })).body.passkeys;
const create = (member: Member, options: unknown) =>
  member.person.evaluate(
    `SimpleWebAuthnBrowser.startRegistration({ optionsJSON: ${JSON.stringify(options)} })`,
  );

describe('registration of a passkey', () => {
  it('asks for one that needs no name and asks who is there', async () => {
    const { body } = await register(bob.token, {});
    expect(body.options).to.include({
      rp: { id: 'localhost', name: 'Adjutant' },
      attestation: 'none',
      timeout: 300_000,
      user: { id: Buffer.from(bob.id).toString('base64url'), name: 'bob', displayName: '' },
    });
    expect(body.options.authenticatorSelection).to.equal({
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    });
  });

  it(`keeps it and tells its owner${unless}`, withChromium, async () => {
    const { token } = ada;
    const [passkey] = await listed(token);
    expect(passkey).to.equal({
      id: passkey.id,
      name: 'Laptop of ada',
      relyingParty: 'localhost',
      works: true,
      createdAt: '2026-03-01T12:00:00.000Z',
      lastUsedAt: null,
    });
    const told = await stage.app.call('GET', '/api/notifications', { token });
    expect(told.body.notifications[0]).to.include({
      kind: 'passkey.added',
      title: 'A passkey was added to your account: Laptop of ada',
    });
  });

  it(`makes no second one on the same device${unless}`, withChromium, async () => {
    const { page } = ada.person;
    await page.click('text=Add a passkey');
    await page.waitForSelector('text=This device already has a passkey for your account.');
    expect(await listed(ada.token)).to.have.length(1);
  });

  it(
    `refuses another session’s challenge, and one that was used${unless}`,
    withChromium,
    async () => {
      const dora = await stage.enter('dora');
      const { body } = await register(ada.token, {});
      const response = await create(dora, { ...body.options, excludeCredentials: [] });
      const foreign = await register(bob.token, { response });
      const own = await register(ada.token, { response, name: 'Key' });
      const again = await register(ada.token, { response });
      expect([foreign.status, own.status, again.status]).to.equal([401, 201, 401]);
      expect(foreign.body.code).to.equal('passkey_refused');
      expect(own.body.passkey).to.include({ name: 'Key', relyingParty: 'localhost', works: true });
    },
  );

  it(`refuses a challenge after five minutes${unless}`, withChromium, async () => {
    const eve = await stage.enter('eve');
    const { body } = await register(eve.token, { password: PASSWORD });
    const response = await create(eve, { ...body.options, excludeCredentials: [] });
    stage.clock.forward(5 * 60_000);
    expect((await register(eve.token, { response })).status).to.equal(401);
  });

  it('wants the password later than ten minutes after login', async () => {
    const carol = await stage.app.register('carol');
    stage.clock.forward(10 * 60_000);
    expect((await register(carol.token, {})).status).to.equal(200);
    stage.clock.forward(1);
    const without = await register(carol.token, {});
    expect([without.status, without.body.code]).to.equal([403, 'password_required']);
    const wrong = await register(carol.token, { password: 'wrong password' });
    expect([wrong.status, wrong.body.code]).to.equal([401, 'wrong_password']);
    expect((await register(carol.token, { password: PASSWORD })).status).to.equal(200);
  });

  it('counts wrong passwords with those of the login', async () => {
    const fay = await stage.app.register('fay');
    for (let n = 0; n < 5; n++) await register(fay.token, { password: 'wrong password' });
    expect((await register(fay.token, { password: PASSWORD })).status).to.equal(429);
    const body = { username: 'fay', password: PASSWORD };
    expect((await stage.app.call('POST', '/api/auth/login', { body })).status).to.equal(429);
  });

  it(`asks for the password on the page${unless}`, withChromium, async () => {
    const gil = await stage.enter('gil');
    const { page } = gil.person;
    stage.clock.forward(11 * 60_000);
    await page.click('text=Add a passkey');
    await page.waitForSelector('text=Send your password as well');
    await page.fill('#confirm', PASSWORD);
    await page.click('text=Add a passkey');
    await page.waitForSelector('text=This device already has a passkey for your account.');
  });

  it('needs a token', async () => {
    const calls = await Promise.all([
      stage.app.call('POST', REGISTER, { body: {} }),
      stage.app.call('GET', LIST),
      stage.app.call('DELETE', `${LIST}/passkey_1`),
      stage.app.call('POST', '/api/auth/passkey/grant', { body: { challenge: 'a'.repeat(43) } }),
    ]);
    expect(calls.map(({ status }) => status)).to.equal([401, 401, 401, 401]);
  });
});

describe('deletion of a passkey', () => {
  it(`hides it from a stranger${unless}`, withChromium, async () => {
    const [{ id }] = await listed(ada.token);
    const ask = { token: bob.token };
    const foreign = await stage.app.call('DELETE', `${LIST}/${id}`, ask);
    const random = await stage.app.call('DELETE', `${LIST}/passkey_0`, ask);
    const without = ({ body }: { body: object }) => ({ ...body, requestId: '' });
    expect([foreign.status, without(foreign)]).to.equal([404, without(random)]);
    expect(await listed(bob.token)).to.equal([]);
  });

  it(`ends its logins${unless}`, withChromium, async () => {
    const hal = await stage.enter('hal');
    const [{ id }] = await listed(hal.token);
    const { status } = await stage.app.call('DELETE', `${LIST}/${id}`, { token: hal.token });
    expect(status).to.equal(204);
    expect((await stage.logIn(hal.person)).status).to.equal(401);
  });

  it(`leaves the last way into an account${unless}`, withChromium, async () => {
    const ida = await stage.enter('ida');
    const { token } = ida;
    const { db } = stage.app.app.store;
    await db.updateTable('users').set({ password_hash: '' }).where('id', '=', ida.id).execute();
    const [{ id }] = await listed(token);
    const refused = await stage.app.call('DELETE', `${LIST}/${id}`, { token });
    expect([refused.status, refused.body.code]).to.equal([409, 'last_way_in']);
    expect((await stage.logIn(ida.person)).status).to.equal(200);
  });

  it(`calls one of a former name one that works no more${unless}`, withChromium, async () => {
    const { db } = stage.app.app.store;
    const set = { relying_party: 'old.example.org' };
    await db.updateTable('passkeys').set(set).where('user_id', '=', ada.id).execute();
    const passkeys: { relyingParty: string; works: boolean }[] = await listed(ada.token);
    expect(passkeys.map(({ relyingParty, works }) => [relyingParty, works])).to.equal([
      ['old.example.org', false],
      ['old.example.org', false],
    ]);
  });
});
