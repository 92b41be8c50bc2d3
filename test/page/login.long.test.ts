import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { FOREIGN_HOST, unless, withChromium } from '../accounts/passkeys/browser.js';
import { PASSWORD } from '../harness/app.js';
import { AT_ONCE_MS, isLive, logInAs, openPageStage, type PageStage, WIDTHS } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('the page', () => {
  let stage: PageStage;

  before(async () => {
    if (!withChromium.skip) stage = await openPageStage();
  });

  after(() => stage?.stop());

  it(`makes the first account, by keyboard alone${unless}`, withChromium, async () => {
    const { page, open, violations, tabTo, complaints, press } = await stage.visit();
    await open('/');
    await tabTo('button.link', 'Enter');
    await tabTo('#username');
    await page.keyboard.type('ada');
    await tabTo('#password');
    await page.keyboard.type(PASSWORD);
    expect(await violations()).to.equal([]);
    await press('Enter', 'text=Nothing needs your attention');
    expect(await page.textContent('.who')).to.equal('ada');
    expect(await violations()).to.equal([]);
    expect(complaints).to.equal([]);
  });

  it(`opens what a link names after the login${unless}`, withChromium, async () => {
    const { page, open, violations } = await stage.visit();
    await open('/approvals');
    expect(await violations()).to.equal([]);
    await logInAs(page, 'ada');
    await page.waitForSelector('h1:text("Approvals")');
    expect(new URL(page.url()).pathname).to.equal('/approvals');
    await page.reload();
    await page.waitForSelector('h1:text("Approvals")');
  });

  for (const { where, viewport } of WIDTHS) {
    it(`logs in and out by keyboard alone, ${where}${unless}`, withChromium, async () => {
      const { page, open, violations, tabTo, complaints, press } = await stage.visit(viewport);
      await open('/device');
      await tabTo('#username');
      await page.keyboard.type('ada');
      await tabTo('#password');
      await page.keyboard.type(PASSWORD);
      await press('Enter', 'h1:text("This device")');
      await tabTo('main > button', 'Enter');
      await page.waitForSelector('[role=status]:text-is("You are logged out.")');
      expect(new URL(page.url()).pathname).to.equal('/');
      expect(await page.isVisible('nav')).to.be.false();
      expect(await violations()).to.equal([]);
      await page.reload();
      await page.waitForSelector('#username');
      expect(complaints).to.equal([]);
    });
  }

  it(`says why a login is refused${unless}`, withChromium, async () => {
    const { page, open, violations } = await stage.visit();
    await open('/');
    await page.fill('#username', 'ada');
    await page.fill('#password', 'not hers at all');
    await page.click('button[type=submit]');
    expect(await page.textContent('[role=alert] p')).to.equal('Wrong username or password');
    expect(await violations()).to.equal([]);
  });

  it(`asks for no password where it could be read on the way${unless}`, withChromium, async () => {
    const { page, violations } = await stage.visit();
    await page.goto(stage.app.url.replace('localhost', FOREIGN_HOST));
    await page.waitForSelector('text=From other machines you can log in only over https');
    expect(await page.locator('input, main button').count()).to.equal(0);
    expect(await violations()).to.equal([]);
  });

  it(`logs in with a passkey that another page added${unless}`, withChromium, async () => {
    const { page, context, open, click } = await stage.enter('ada');
    const cdp = await context.newCDPSession(page);
    await cdp.send('WebAuthn.enable', { enableUI: false });
    await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        ctap2Version: 'ctap2_1',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await page.goto(`${stage.app.url}/passkeys`);
    await page.fill('#username', 'ada');
    await page.fill('#password', PASSWORD);
    await page.click('text=Log in with the password');
    await page.fill('#name', 'Phone');
    await click('text=Add a passkey', 'text=Added: Phone');
    await context.clearCookies();
    await open('/');
    await click('text=Log in with a passkey', 'nav');
    expect(await page.textContent('.who')).to.equal('ada');
  });

  it(`ends at once when the session ends elsewhere${unless}`, withChromium, async () => {
    const { page } = await stage.enter('ada');
    await isLive(page);
    const { body } = await stage.app.call('POST', '/api/auth/login', {
      body: { username: 'ada', password: PASSWORD },
    });
    const sessions = await stage.app.call('GET', '/api/auth/sessions?limit=200', {
      token: body.token,
    });
    for (const { id, current } of sessions.body.sessions) {
      if (!current)
        await stage.app.call('DELETE', `/api/auth/sessions/${id}`, { token: body.token });
    }
    await page.waitForSelector('text=Your login session has ended', { timeout: AT_ONCE_MS });
    expect(await page.isVisible('nav')).to.be.false();
  });

  it(`refuses a tab of another user everything${unless}`, withChromium, async () => {
    await stage.app.restart({ registration: 'open' });
    stage.app.url = stage.app.url.replace('127.0.0.1', 'localhost');
    await stage.app.register('bob');
    const { page, context } = await stage.enter('ada');
    await isLive(page);
    const other = await context.newPage();
    await other.goto(stage.app.url);
    await context.clearCookies();
    await other.reload();
    await logInAs(other, 'bob');
    // An event may have caused a request already.
    const approvals = page.locator('nav >> text=Approvals');
    await approvals.click({ timeout: 2000 }).catch(() => undefined);
    await page.waitForSelector('text=Another user has logged in with this browser');
    expect(await page.isVisible('nav')).to.be.false();
  });
});
