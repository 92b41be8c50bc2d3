import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { openBrowser, openPerson, unless, withChromium } from './browser.js';

export const lab = Lab.script();
const { describe, it } = lab;

const app = openForSuite(lab, startApp);

describe('/passkeys', () => {
  it('is of its own files alone, and in no other page', async () => {
    const { status, headers } = await app.call('GET', '/passkeys');
    expect(status).to.equal(200);
    expect(headers).to.include({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
  });

  it('has all that it names, and names nothing elsewhere', async () => {
    const { text } = await app.call('GET', '/passkeys');
    const named = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
    expect(named.every((path) => path.startsWith('/passkeys/'))).to.be.true();
    const files = await Promise.all(named.map((path) => app.call('GET', path)));
    expect(files.map(({ status, headers }) => [status, headers['content-type']])).to.equal([
      [200, 'text/css; charset=utf-8'],
      [200, 'text/javascript; charset=utf-8'],
      [200, 'text/javascript; charset=utf-8'],
    ]);
  });

  it(`breaks none of its own rules${unless}`, withChromium, async () => {
    const browser = await openBrowser();
    try {
      const { page } = await openPerson(browser, app.url);
      const complaints: string[] = [];
      page.on('console', (message) => void complaints.push(message.text()));
      page.on('pageerror', (error) => void complaints.push(error.message));
      await page.goto(`${app.url}/passkeys`);
      await page.waitForSelector('text=at localhost:');
      expect(complaints).to.equal([]);
    } finally {
      await browser.close();
    }
  });

  it(`says what is wrong${unless}`, withChromium, async () => {
    const browser = await openBrowser();
    try {
      const { page } = await openPerson(browser, app.url.replace('127.0.0.1', 'localhost'));
      await page.click('text=Log in with a passkey');
      await page.waitForSelector(
        'text=The request was cancelled or timed out, or there is no passkey on this device.',
      );
      await page.fill('#username', 'nobody');
      await page.fill('#password', 'wrong password');
      await page.click('text=Log in with the password');
      await page.waitForSelector('text=Wrong username or password');
    } finally {
      await browser.close();
    }
  });
});
