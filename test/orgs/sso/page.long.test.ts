import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openBrowser, unless, withChromium } from '../../accounts/passkeys/browser.js';
import { idpUser } from '../../harness/idp.js';
import { configure, formOf, openStage, rightFor, type Stage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('the page of single sign-on', () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
  });
  after(() => stage.stop());

  it('is of its own files alone', async () => {
    const { text } = await stage.app.call('GET', '/sso');
    const named = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
    const files = await Promise.all(named.map((path) => stage.app.call('GET', path)));
    expect(named.map((path, at) => [path, files[at]?.status])).to.equal([
      ['/sso/page.css', 200],
      ['/sso/page.js', 200],
    ]);
  });

  it(`logs in by the identity provider, and opens the page${unless}`, withChromium, async () => {
    const { app, idp } = stage;
    idp.logIn(idpUser('grace'));
    const browser = await openBrowser();
    try {
      const page = await (await browser.newContext()).newPage();
      await page.goto(`${app.url}/sso?org=acme`);
      await page.click('text=Log in with single sign-on');
      await page.waitForURL(`${app.url}/`);
      await page.waitForFunction(() => localStorage.getItem('adjutant.login-key') !== null);
      const me: { username: string } = await page.evaluate(async () => {
        const key = localStorage.getItem('adjutant.login-key') ?? '';
        const reply = await fetch('/api/auth/me', { headers: { 'x-adjutant-page': key } });
        return JSON.parse(await reply.text());
      });
      expect(me.username).to.match(/^acme-\d+$/);
    } finally {
      await browser.close();
    }
  });

  it(`passes a login on to a program of this machine${unless}`, withChromium, async () => {
    const { app } = stage;
    const received: string[] = [];
    const program = createServer((request, response) => {
      received.push(request.url ?? '');
      response.end('Done');
      program.emit('code');
    });
    program.listen(0, '127.0.0.1');
    await once(program, 'listening');
    const [state, verifier] = [randomBytes(32), randomBytes(32)].map((each) =>
      each.toString('base64url'),
    );
    const challenge = createHash('sha256')
      .update(verifier ?? '')
      .digest('base64url');
    const { port } = program.address() as AddressInfo;
    const browser = await openBrowser();
    try {
      const page = await (await browser.newContext()).newPage();
      const arrived = once(program, 'code');
      await page.goto(`${app.url}/sso?org=acme#cli=${port}.${state}.${challenge}`);
      await page.click('text=Yes, log in');
      await arrived;
      const query = new URL(received[0] ?? '', 'http://x').searchParams;
      expect(query.get('state')).to.equal(state ?? '');
      const login = await app.call('POST', '/api/auth/passkey/redeem', {
        body: { code: query.get('code'), verifier },
      });
      expect(login.body.user.username).to.match(/^acme-\d+$/);
    } finally {
      await browser.close();
      program.closeAllConnections();
      program.close();
    }
  });

  it(`asks before a login that somebody else started${unless}`, withChromium, async () => {
    const { app, idp } = stage;
    await configure(stage, { allowIdpInitiated: true });
    const { SAMLResponse } = formOf(await idp.respond(rightFor(app, null)));
    const browser = await openBrowser();
    try {
      const page = await (await browser.newContext()).newPage();
      await page.goto('about:blank');
      await page.setContent(`<form method="post" action="${app.url}/api/saml/acs">
        <input name="SAMLResponse" value="${SAMLResponse}"><button>Send</button></form>`);
      await page.click('text=Send');
      await page.waitForSelector('text=asks to log in this browser as');
      expect(await page.evaluate(() => localStorage.getItem('adjutant.login-key'))).to.equal(null);
      await page.click('text=No');
      await page.waitForSelector('text=Nothing was changed');
    } finally {
      await browser.close();
    }
  });
});
