import { createHash, randomBytes } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { readSession } from '../../../src/client/session.js';
import { start } from '../../cli/harness.js';
import { PASSWORD } from '../../harness/app.js';
import { unless, withChromium } from './browser.js';
import { type Member, openStage, type Stage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const DAY = 24 * 3600_000;

let stage: Stage;
let ada: Member;
let bob: { id: string; token: string };

before(async () => {
  stage = await openStage();
  if (!withChromium.skip) ada = await stage.enter('ada');
  bob = await stage.app.register('bob');
});
after(() => stage.close());

const verifiers = () => {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
};
const grant = async (token: string, challenge: string) =>
  stage.app.call('POST', '/api/auth/passkey/grant', { token, body: { challenge } });
const redeem = (body: object) => stage.app.call('POST', '/api/auth/passkey/redeem', { body });

describe('hand-over of a login', () => {
  it('gives a session of one’s own for the code and its verifier', async () => {
    const { verifier, challenge } = verifiers();
    const granted = await grant(bob.token, challenge);
    expect([granted.status, granted.body.expiresAt]).to.equal([200, '2026-03-01T12:01:00.000Z']);
    const { code } = granted.body;
    const { status, body } = await redeem({ code, verifier, device: 'CLI' });
    // The person was not asked here: the device is not known by it.
    expect(body.deviceToken).to.be.undefined();
    expect([status, body.user.id, body.expiresAt]).to.equal([
      200,
      bob.id,
      '2026-03-31T12:00:00.000Z',
    ]);
    expect((await stage.app.call('GET', '/api/auth/me', { token: body.token })).status).to.equal(
      200,
    );
  });

  it('takes a code once', async () => {
    const { verifier, challenge } = verifiers();
    const { code } = (await grant(bob.token, challenge)).body;
    const both = await Promise.all([redeem({ code, verifier }), redeem({ code, verifier })]);
    expect(both.map(({ status }) => status).sort()).to.equal([200, 401]);
    expect((await redeem({ code, verifier })).status).to.equal(401);
  });

  it('burns a code that comes with another verifier', async () => {
    const { verifier, challenge } = verifiers();
    const { code } = (await grant(bob.token, challenge)).body;
    expect((await redeem({ code, verifier: verifiers().verifier })).status).to.equal(401);
    expect((await redeem({ code, verifier })).status).to.equal(401);
  });

  it('takes a code for one minute', async () => {
    const { verifier, challenge } = verifiers();
    const { code } = (await grant(bob.token, challenge)).body;
    stage.clock.forward(60_000);
    expect((await redeem({ code, verifier })).status).to.equal(401);
  });

  it('takes no code of a session that has ended', async () => {
    const carol = await stage.app.register('carol');
    const { verifier, challenge } = verifiers();
    const { code } = (await grant(carol.token, challenge)).body;
    await stage.app.call('POST', '/api/auth/logout', { token: carol.token });
    expect((await redeem({ code, verifier })).status).to.equal(401);
  });

  it('gives a login as old as the one that gave it', async () => {
    const dave = await stage.app.register('dave');
    const handOver = async (token: string) => {
      const { verifier, challenge } = verifiers();
      const { code } = (await grant(token, challenge)).body;
      return (await redeem({ code, verifier, device: 'CLI' })).body;
    };
    const sensitive = async (token: string, body: object) => {
      const paths = ['totp/setup', 'tokens', 'passkey/register'];
      const replies = await Promise.all(
        paths.map((path) =>
          stage.app.call('POST', `/api/auth/${path}`, {
            token,
            body: path === 'tokens' ? { name: 'ci', ...body } : body,
          }),
        ),
      );
      return replies.map(({ status, body: { code } }) => code ?? status);
    };
    stage.clock.forward(10 * 60_000);
    const fresh = await handOver(dave.token);
    expect(await sensitive(fresh.token, {})).to.equal([200, 201, 200]);
    stage.clock.forward(1000);
    const stale = await handOver(dave.token);
    const chained = await handOver(stale.token);
    const refused = Array(3).fill('password_required');
    for (const { token } of [fresh, stale, chained]) {
      expect(await sensitive(token, {})).to.equal(refused);
      expect(await sensitive(token, { password: PASSWORD })).to.equal([200, 201, 200]);
    }
  });

  it('takes S256 alone', async () => {
    const challenges = ['', 'plain', 'a'.repeat(42), 'a'.repeat(44), `${'a'.repeat(42)}+`];
    const replies = await Promise.all(challenges.map((one) => grant(bob.token, one)));
    expect(replies.map(({ status }) => status)).to.equal([400, 400, 400, 400, 400]);
  });

  it(`logs the command line in${unless}`, withChromium, async () => {
    const { url } = stage.app;
    const cli = await startLogin(url);
    const { page } = ada.person;
    await page.goto('about:blank');
    await page.goto(cli.address);
    await page.waitForSelector('text=A command line on this machine waits');
    expect(new URL(page.url()).hash).to.equal('');
    await page.click('text=Log in with a passkey');
    await page.click('text=Yes, log it in');
    await page.waitForSelector('text=Done. Return to the terminal.');
    expect(await cli.ended).to.equal(0);
    expect(await cli.note()).to.contain('Logged in as ada');
    const token = readSession(url)?.token ?? '';
    const me = await stage.app.call('GET', '/api/auth/me', { token });
    expect(me.body.username).to.equal('ada');
  });

  it(`asks whoever is logged in on the page already${unless}`, withChromium, async () => {
    const { page } = ada.person;
    await page.goto(`${stage.app.url}/passkeys`);
    await page.click('text=Log in with a passkey');
    await page.waitForSelector('text=Logged in as ada');
    const cli = await startLogin(stage.app.url);
    await page.goto(cli.address);
    await page.click('text=Yes, log it in');
    await page.waitForSelector('text=Done. Return to the terminal.');
    expect(await cli.ended).to.equal(0);
  });

  it(
    `hands nothing over before it was asked, nor where the answer is no${unless}`,
    withChromium,
    async () => {
      const { page } = ada.person;
      await page.goto('about:blank');
      const cli = await startLogin(stage.app.url);
      const granted: string[] = [];
      page.on('request', (request) => {
        if (request.url().endsWith('/grant')) granted.push(request.url());
      });
      await page.goto(cli.address);
      await page.click('text=Log in with a passkey');
      await page.waitForSelector('text=A program on this machine asks to log in as you');
      await page.click('text=No');
      expect(await page.isVisible('text=Yes, log it in')).to.be.false();
      expect(await page.isVisible('text=Your passkeys')).to.be.true();
      expect(granted).to.equal([]);
      cli.interrupt();
      expect(await cli.ended).to.equal(130);
    },
  );

  it('leaves those out who do not know the state', async () => {
    const cli = await startLogin(stage.app.url);
    const [, port = ''] = /#cli=(\d+)\./.exec(cli.address) ?? [];
    const answers = await Promise.all(
      ['/', '/?code=abc', '/?code=abc&state=wrong'].map(async (path) => {
        const response = await fetch(`http://127.0.0.1:${port}${path}`);
        return response.status;
      }),
    );
    expect(answers).to.equal([404, 404, 404]);
    cli.interrupt();
    expect(await cli.ended).to.equal(130);
  });

  it(`goes to no other machine, and to no port below 1024${unless}`, withChromium, async () => {
    const { page } = ada.person;
    const { challenge } = verifiers();
    for (const port of ['80', '65536', '3005@elsewhere.example', 'x']) {
      await page.goto('about:blank');
      await page.goto(`${stage.app.url}/passkeys#cli=${port}.${'s'.repeat(43)}.${challenge}`);
      await page.waitForSelector('text=Log in with a passkey');
      expect(await page.isVisible('#handover')).to.be.false();
    }
  });

  it('ends thirty days after the person was asked', async () => {
    const erin = await stage.app.register('erin');
    const end = new Date(stage.clock.now() + 30 * DAY).toISOString();
    let { token } = erin;
    for (let n = 0; n < 3; n++) {
      stage.clock.forward(DAY / 4);
      const { verifier, challenge } = verifiers();
      const { code } = (await grant(token, challenge)).body;
      const { body } = await redeem({ code, verifier, device: 'CLI' });
      expect(body.expiresAt).to.equal(end);
      token = body.token;
    }
    const without = verifiers();
    const { code } = (await grant(token, without.challenge)).body;
    stage.clock.forward(30_000);
    const { body } = await redeem({ code, verifier: without.verifier });
    stage.clock.forward(29 * DAY);
    const refreshed = await stage.app.call('POST', '/api/auth/refresh', { token });
    expect([refreshed.status, refreshed.body.expiresAt]).to.equal([200, end]);
    expect((await stage.app.call('GET', '/api/auth/me', { token: body.token })).status).to.equal(
      401,
    );
    stage.clock.forward(DAY / 4);
    expect((await stage.app.call('GET', '/api/auth/me', { token })).status).to.equal(401);
  });
});

/** `adjutant login --passkey`, and the address that it says to open. */
const startLogin = async (url: string) => {
  const cli = start(['login', '--passkey', '--server', url]);
  expect(await cli.note()).to.match(/^Open this address in a browser on this machine/);
  return { ...cli, address: await cli.note() };
};
