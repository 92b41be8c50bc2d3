import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Page } from 'playwright-core';
import { readSession } from '../../../src/client/session.js';
import { openBrowser, unless, withChromium } from '../../accounts/passkeys/browser.js';
import { start } from '../../cli/harness.js';
import { createKeyPair } from '../../harness/idp.js';
import {
  configure,
  formOf,
  lastResult,
  makeOrg,
  openStage,
  rightFor,
  type Stage,
  syncClock,
} from './stage.js';

export const lab = Lab.script();
const { describe, it, before, beforeEach, after } = lab;

const HOUR_MS = 3600 * 1000;

describe('the page of single sign-on', () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
  });
  after(() => stage.stop());
  beforeEach(() => syncClock(stage));

  /** Logs in on the page, up to the address that the browser then shows. */
  const logIn = async (page: Page, org = 'acme', end: RegExp = /\/$/) => {
    await page.goto(`${stage.app.url}/sso?org=${org}`);
    await page.click('text=Log in with single sign-on');
    await page.waitForURL(end);
  };
  /** A GET of the page, with its cookie, or a POST by the user whom it shows. */
  const call = (page: Page, path: string, userId?: string) =>
    page.evaluate(
      async ([to, user]) => {
        const key = localStorage.getItem('adjutant.login-key') ?? '';
        const reply = await fetch(to, {
          method: user === undefined ? 'GET' : 'POST',
          headers: {
            'x-adjutant-page': key,
            ...(user !== undefined && { 'x-adjutant-user': user }),
          },
        });
        const text = await reply.text();
        return { status: reply.status, body: text === '' ? null : JSON.parse(text) };
      },
      [path, userId] as const,
    );
  const me = (page: Page) => call(page, '/api/auth/me');

  it('is of its own files alone', async () => {
    const { text } = await stage.app.call('GET', '/sso');
    const named = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
    const files = await Promise.all(named.map((path) => stage.app.call('GET', path)));
    expect(named.map((path, at) => [path, files[at]?.status])).to.equal([
      ['/sso/page.css', 200],
      ['/sso/page.js', 200],
    ]);
  });

  it(`logs in by the identity provider until a logout${unless}`, withChromium, async () => {
    const browser = await openBrowser();
    try {
      const page = await (await browser.newContext()).newPage();
      await logIn(page);
      const { id, username } = (await me(page)).body;
      expect(username).to.match(/^acme-\d+$/);
      expect((await call(page, '/api/auth/logout', id)).status).to.equal(204);
      expect((await me(page)).status).to.equal(401);
    } finally {
      await browser.close();
    }
  });

  it(`ends with the session at the identity provider${unless}`, withChromium, async () => {
    const { idp, clock } = stage;
    const end = new Date(clock.now() + HOUR_MS).toISOString();
    idp.setEdit((xml) =>
      xml.replace('<saml:AuthnStatement ', `<saml:AuthnStatement SessionNotOnOrAfter="${end}" `),
    );
    const browser = await openBrowser();
    try {
      const page = await (await browser.newContext()).newPage();
      await logIn(page);
      // Tokens count in seconds.
      clock.shift(HOUR_MS - 1000);
      expect((await me(page)).status).to.equal(200);
      clock.shift(1000);
      expect((await me(page)).status).to.equal(401);
    } finally {
      clock.shift(-HOUR_MS);
      idp.setEdit(undefined);
      await browser.close();
    }
  });

  it(`follows the identity provider to other keys${unless}`, withChromium, async () => {
    const { idp, keys: old } = stage;
    const next = createKeyPair();
    const browser = await openBrowser();
    const outcome = async (keys: typeof old) => {
      idp.setKeys(keys);
      const page = await (await browser.newContext()).newPage();
      await logIn(page, 'acme', /\/$|\/acs$/);
      return (await lastResult(stage)).code;
    };
    try {
      await configure(stage, { certificates: [old.certificate, next.certificate] });
      expect([await outcome(old), await outcome(next)]).to.equal([null, null]);
      await configure(stage, { certificates: [next.certificate] });
      expect([await outcome(old), await outcome(next)]).to.equal(['saml_signature', null]);
    } finally {
      idp.setKeys(old);
      await configure(stage, {});
      await browser.close();
    }
  });

  it(
    `keeps two organizations behind one identity provider apart${unless}`,
    withChromium,
    async () => {
      const orgId = await makeOrg(stage, 'twin');
      await configure({ ...stage, orgId }, {});
      const browser = await openBrowser();
      try {
        const page = await (await browser.newContext()).newPage();
        const entered = [];
        for (const org of ['acme', 'twin']) {
          await logIn(page, org);
          const { body } = await call(page, '/api/orgs');
          const { username } = (await me(page)).body;
          entered.push([
            username.split('-')[0],
            body.orgs.map(({ slug }: { slug: string }) => slug),
          ]);
        }
        expect(entered).to.equal([
          ['acme', ['acme']],
          ['twin', ['twin']],
        ]);
        expect((await call(page, `/api/orgs/${stage.orgId}`)).status).to.equal(404);
        // The browser brings the response for the twin to a login at acme.
        await page.goto(`${stage.app.url}/sso?org=acme`);
        await page.route(`${stage.app.url}/api/saml/acs`, async (route) => {
          const form = new URLSearchParams(route.request().postData() ?? '');
          const audience = `${stage.app.url}/api/saml/metadata?org=twin`;
          const xml = Buffer.from(form.get('SAMLResponse') ?? '', 'base64').toString();
          const inResponseTo = / InResponseTo="([^"]+)"/.exec(xml)?.[1] ?? '';
          const right = rightFor(stage.app, null);
          const other = await stage.idp.respond({ ...right, audience, inResponseTo });
          const { SAMLResponse } = formOf(other);
          form.set('SAMLResponse', SAMLResponse);
          await route.continue({ postData: String(form) });
        });
        await page.click('text=Log in with single sign-on');
        await page.waitForURL(/\/acs$/);
        expect((await lastResult(stage)).code).to.equal('saml_audience');
        expect((await me(page)).body.username).to.match(/^twin-/);
      } finally {
        await browser.close();
      }
    },
  );

  it(`logs the command line in${unless}`, withChromium, async () => {
    const { url } = stage.app;
    const cli = start(['login', '--sso', 'acme', '--server', url]);
    expect(await cli.note()).to.match(/^Open this address in a browser on this machine/);
    const browser = await openBrowser();
    try {
      const page = await (await browser.newContext()).newPage();
      await page.goto(await cli.note());
      await page.waitForSelector('text=A program on this machine asks to log in as acme-');
      await page.click('text=Yes, log in');
      await page.waitForSelector('text=Done. Return to the terminal.');
      expect(await cli.ended).to.equal(0);
      expect(await cli.note()).to.contain('Logged in as acme-');
      const token = readSession(url)?.token ?? '';
      const { body } = await stage.app.call('GET', '/api/auth/me', { token });
      expect(body.username).to.match(/^acme-\d+$/);
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
