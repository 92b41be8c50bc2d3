import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PASSWORD, type Reply } from '../../harness/app.js';
import { listen } from '../../kernel/listen.js';
import { unless, withChromium } from './browser.js';
import { type Member, openStage, type Stage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

let stage: Stage;
let ada: Member;
let bob: Member;

before(async () => {
  stage = await openStage();
  if (withChromium.skip) return;
  ada = await stage.enter('ada');
  bob = await stage.enter('bob');
});
after(() => stage.close());

/** The one answer to every response that is not right. */
const expectRefused = ({ status, body }: Reply): void => {
  expect({ status, body: { ...body, requestId: '' } }).to.equal({
    status: 401,
    body: {
      statusCode: 401,
      error: 'Unauthorized',
      message: 'The passkey was not accepted. Try again',
      code: 'passkey_refused',
      requestId: '',
    },
  });
};

describe('login with a passkey', () => {
  it(`takes no name, on the page${unless}`, withChromium, async () => {
    const { page } = ada.person;
    await page.goto(`${stage.app.url}/passkeys`);
    await page.click('text=Log in with a passkey');
    await page.waitForSelector('text=Logged in as ada');
    expect(await page.textContent('#list')).to.contain('Laptop of ada');
  });

  it(`gives a login as the password does${unless}`, withChromium, async () => {
    const { status, body } = await stage.logIn(ada.person);
    const me = await stage.app.call('GET', '/api/auth/me', { token: body.token });
    expect({ status, user: body.user }).to.equal({ status: 200, user: me.body });
    expect(me.body).to.include({ id: ada.id, username: 'ada', passkeys: 1 });
    expect(body.expiresAt).to.equal('2026-03-02T00:00:00.000Z');
    const entry = await stage.app.app.store.db
      .selectFrom('audit')
      .select(['action', 'actor_id', 'outcome', 'data'])
      .orderBy('number', 'desc')
      .executeTakeFirst();
    expect(entry).to.equal({
      action: 'auth.login',
      actor_id: ada.id,
      outcome: 'ok',
      data: '{"by":"passkey"}',
    });
  });

  it(`lasts 30 days for a device${unless}`, withChromium, async () => {
    const { options, challengeId } = await stage.begin();
    const response = await ada.person.answer(options);
    const { body } = await stage.end({ challengeId, response, device: 'phone' });
    expect(body.expiresAt).to.equal('2026-03-31T12:00:00.000Z');
  });

  it(`takes the name of its owner${unless}`, withChromium, async () => {
    const { options, challengeId } = await stage.begin({ username: 'ADA' });
    const response = await ada.person.answer(options);
    expect((await stage.end({ challengeId, response })).status).to.equal(200);
  });

  it(`refuses another’s passkey for a name${unless}`, withChromium, async () => {
    for (const username of ['ada', 'nobody']) {
      const { options, challengeId } = await stage.begin({ username });
      const response = await bob.person.answer(options);
      expectRefused(await stage.end({ challengeId, response }));
    }
    expect((await stage.logIn(bob.person)).status).to.equal(200);
  });

  it('tells nobody which names there are', async () => {
    const [some, none] = await Promise.all([
      stage.begin({ username: 'ada' }),
      stage.begin({ username: 'nobody' }),
    ]);
    const same = { challengeId: '', options: { challenge: '' } };
    const shape = (begun: { options: unknown }) => ({
      ...begun,
      ...same,
      options: Object.assign({}, begun.options, same.options),
    });
    expect(shape(some)).to.equal(shape(none));
    expect(Object.keys(shape(some).options)).to.not.include('allowCredentials');
  });

  it(`refuses a response that was used${unless}`, withChromium, async () => {
    const { options, challengeId } = await stage.begin();
    const response = await ada.person.answer(options);
    expect((await stage.end({ challengeId, response })).status).to.equal(200);
    // Some authenticators do not count, so the challenge alone must do.
    const { db } = stage.app.app.store;
    await db.updateTable('passkeys').set({ counter: 0 }).where('user_id', '=', ada.id).execute();
    expectRefused(await stage.end({ challengeId, response }));
    const fresh = await stage.begin();
    expectRefused(await stage.end({ challengeId: fresh.challengeId, response }));
  });

  it(`takes a response once of two at a time${unless}`, withChromium, async () => {
    const { options, challengeId } = await stage.begin();
    const response = await ada.person.answer(options);
    const both = await Promise.all([1, 2].map(() => stage.end({ challengeId, response })));
    expect(both.map(({ status }) => status).sort()).to.equal([200, 401]);
  });

  it(`refuses a response after five minutes${unless}`, withChromium, async () => {
    const { options, challengeId } = await stage.begin();
    const response = await ada.person.answer(options);
    stage.clock.forward(5 * 60_000);
    expectRefused(await stage.end({ challengeId, response }));
  });

  it(`refuses a response of another origin${unless}`, withChromium, async () => {
    const elsewhere = await listen();
    const { page, answer } = ada.person;
    await page.goto(`http://localhost:${elsewhere.port}/`);
    await page.addScriptTag({ path: bundle() });
    const { options, challengeId } = await stage.begin();
    const response = await answer(options);
    await page.goto(`${stage.app.url}/passkeys`);
    await elsewhere.close();
    expectRefused(await stage.end({ challengeId, response }));
  });

  it(`refuses a counter that is not higher${unless}`, withChromium, async () => {
    expect((await stage.logIn(bob.person)).status).to.equal(200);
    await bob.person.setCounters(0);
    expectRefused(await stage.logIn(bob.person));
    await bob.person.setCounters(100);
    expect((await stage.logIn(bob.person)).status).to.equal(200);
  });

  it(`refuses a response without a look at who is there${unless}`, withChromium, async () => {
    const { options, challengeId } = await stage.begin();
    await bob.person.setVerified(false);
    const asked = Object.assign({}, options, { userVerification: 'discouraged' });
    const response = await bob.person.answer(asked);
    await bob.person.setVerified(true);
    expectRefused(await stage.end({ challengeId, response }));
    expect((await stage.logIn(bob.person)).status).to.equal(200);
  });

  it(`refuses a signature over anything else${unless}`, withChromium, async () => {
    const { options, challengeId } = await stage.begin();
    const given = await bob.person.answer(options);
    const flipped = JSON.stringify(given).replace(
      /("signature":".{40})(.)/,
      (_all, head, letter) => `${head}${letter === 'A' ? 'B' : 'A'}`,
    );
    expectRefused(await stage.end({ challengeId, response: JSON.parse(flipped) }));
    expect((await stage.logIn(bob.person)).status).to.equal(200);
  });

  it(`refuses a disabled account${unless}`, withChromium, async () => {
    const { db } = stage.app.app.store;
    const disabled = (at: string | null) =>
      db.updateTable('users').set({ disabled_at: at }).where('id', '=', bob.id).execute();
    await disabled('2026-03-01T12:00:00.000Z');
    expectRefused(await stage.logIn(bob.person));
    await disabled(null);
    expect((await stage.logIn(bob.person)).status).to.equal(200);
  });

  it(`shares its failures with the password${unless}`, withChromium, async () => {
    const carol = await stage.enter('carol');
    for (let n = 0; n < 5; n++) {
      const { options, challengeId } = await stage.begin({ username: 'ada' });
      const response = await carol.person.answer(options);
      expectRefused(await stage.end({ challengeId, response }));
    }
    const body = { username: 'carol', password: PASSWORD };
    const { status, headers } = await stage.app.call('POST', '/api/auth/login', { body });
    expect({ status, after: headers['retry-after'] }).to.equal({ status: 429, after: '1' });
    expect((await stage.logIn(carol.person)).status).to.equal(429);
  });

  it('says where passkeys work when it is asked elsewhere', async () => {
    const { port } = new URL(stage.app.url);
    const { payload } = await stage.app.app.server.inject({
      method: 'POST',
      url: '/api/auth/passkey/authenticate',
      headers: { host: '127.0.0.1:1' },
      payload: {},
    });
    const { statusCode, code, message } = JSON.parse(payload);
    expect({ statusCode, code, message }).to.equal({
      statusCode: 400,
      code: 'no_relying_party',
      message:
        `Passkeys are bound to a host name, and "127.0.0.1:1" is not a host name of this daemon. ` +
        `Open http://localhost:${port}/passkeys. ` +
        'Or set ADJUTANT_PUBLIC_URL to the https address that you use, and restart the daemon',
    });
  });

  it('names the fields that cannot be meant', async () => {
    const response = { id: '*', rawId: 'a', type: 'public-key', response: {} };
    const half = await stage.end({ challengeId: 'challenge_1' });
    const bad = await stage.end({ challengeId: 'challenge_1', response });
    expect([half.status, bad.status]).to.equal([400, 400]);
    expect(bad.body.details.map(({ path }: { path: string }) => path)).to.include([
      'response.id',
      'response.response.signature',
    ]);
  });
});

const bundle = (): string => {
  const entry = createRequire(import.meta.url).resolve('@simplewebauthn/browser');
  return join(dirname(entry), '../dist/bundle/index.umd.min.js');
};
