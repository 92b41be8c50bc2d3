import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Page } from 'playwright-core';
import { openForSuite } from '../../harness/suite.js';
import { openBrowser, type Profiles, unless, withChromium } from '../passkeys/browser.js';
import { openStage } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const NEXT = 'another good password';

const stage = openForSuite(lab, openStage);

for (const path of ['/invite', '/reset']) {
  describe(path, () => {
    it('is of its own files alone, and tells nobody where it was', async () => {
      const { status, headers, text } = await stage.app.call('GET', path);
      expect(status).to.equal(200);
      expect(headers).to.include({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
      const named = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name = '']) => name);
      const links = path === '/invite' ? ['/', '/passkeys'] : ['/passkeys'];
      expect(named).to.equal([`${path}/page.css`, `${path}/page.js`, ...links]);
      const files = await Promise.all(named.map((name) => stage.app.call('GET', name)));
      expect(files.map((file) => file.status)).to.equal(named.map(() => 200));
    });
  });
}

describe('a person with a link', () => {
  let browser: Profiles;
  before(async () => {
    if (!withChromium.skip) browser = await openBrowser();
  });
  after(() => browser?.close());

  /** A page on a phone, and what the browser complains of. */
  const open = async (url: string): Promise<{ page: Page; complaints: string[] }> => {
    const context = await browser.newContext({ viewport: { width: 360, height: 640 } });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => void complaints.push(message.text()));
    page.on('pageerror', (error) => void complaints.push(error.message));
    await page.goto(url);
    return { page, complaints };
  };
  const send = (page: Page) => page.click('button[type=submit]');
  const fits = (page: Page) => page.evaluate('document.documentElement.scrollWidth <= innerWidth');

  it(`makes an account and is told what to do next${unless}`, withChromium, async () => {
    const { url, inviteToken } = await stage.invite({ role: 'admin', email: 'carla@example.org' });
    const { page, complaints } = await open(url);
    await page.waitForSelector('text=Create your account');
    expect(page.url()).to.equal(`${stage.app.url}/invite`);
    await page.fill('#username', 'carla');
    await page.fill('#password', NEXT);
    await send(page);
    await page.waitForSelector('text=Your account is ready, carla');
    expect(await page.textContent('#command')).to.equal(
      `adjutant login carla --server ${stage.app.url}`,
    );
    await page.waitForSelector('a[href="/"]:text("open Adjutant")');
    expect([await fits(page), complaints]).to.equal([true, []]);
    const { body } = await stage.login('carla', NEXT);
    expect([body.user.role, body.user.email]).to.equal(['admin', 'carla@example.org']);
    const sessions = await stage.app.app.store.db
      .selectFrom('auth_sessions')
      .select('id')
      .where('user_id', '=', body.user.id)
      .where('ended_at', 'is', null)
      .execute();
    expect(sessions.length).to.equal(1);
    expect(await page.content()).to.not.contain(inviteToken);
  });

  it(`is not led to the login of somebody else${unless}`, withChromium, async () => {
    const { url } = await stage.invite();
    const { page } = await open(url);
    await page.evaluate(`localStorage.setItem('adjutant.login-key', 'of somebody')`);
    await page.fill('#username', 'hilda');
    await page.fill('#password', NEXT);
    await send(page);
    await page.waitForSelector('#passkeys');
    await page.waitForLoadState('networkidle');
    expect(await page.isVisible('text=open Adjutant')).to.be.false();
  });

  it(`hears what is wrong with each field${unless}`, withChromium, async () => {
    const { url } = await stage.invite();
    const { page } = await open(url);
    await page.fill('#username', 'a b');
    await page.fill('#password', 'short');
    await send(page);
    await page.waitForSelector('#username-error:has-text("Only letters, digits")');
    await page.waitForSelector('#password-error:has-text("At least 8 characters.")');
    expect(await page.evaluate('document.activeElement.id')).to.equal('username');
    expect(await page.getAttribute('#username', 'aria-invalid')).to.equal('true');
    await page.fill('#username', 'BOB');
    await page.fill('#password', NEXT);
    await send(page);
    await page.waitForSelector('#username-error:has-text("This name is already in use")');
    expect(await page.textContent('#password-error')).to.equal('');
    expect(await fits(page)).to.be.true();
    await page.fill('#username', 'dora');
    await page.check('#shown');
    expect(await page.getAttribute('#password', 'type')).to.equal('text');
    await send(page);
    await page.waitForSelector('text=Your account is ready, dora');
  });

  it(`sets a new password${unless}`, withChromium, async () => {
    const { url } = await stage.invite({}, stage.bob.id);
    const { page, complaints } = await open(url);
    await page.fill('#password', NEXT);
    await send(page);
    await page.waitForSelector('text=Your new password is set, bob');
    expect([await fits(page), complaints]).to.equal([true, []]);
    expect((await stage.login('bob', NEXT)).status).to.equal(200);
  });

  it(`hears that a link was used, or is not whole${unless}`, withChromium, async () => {
    const { url, inviteToken } = await stage.invite();
    await stage.register({ username: 'emil', inviteToken });
    const { page } = await open(url);
    await page.fill('#username', 'fritz');
    await page.fill('#password', NEXT);
    await send(page);
    await page.waitForSelector('text=The link is wrong, already used or expired.');
    expect(await page.isVisible('#form')).to.be.false();
    const cut = await open(url.slice(0, -3));
    await cut.page.waitForSelector('text=This link is incomplete.');
    expect(await cut.page.isVisible('#form')).to.be.false();
  });
});
