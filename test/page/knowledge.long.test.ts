import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { unless, withChromium } from '../accounts/passkeys/browser.js';
import { until } from '../harness/app.js';
import { openPageStage, type PageStage, type Visitor, WIDTHS } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('knowledge on the page', () => {
  let stage: PageStage;
  let visitor: Visitor;
  let entryId: string;

  before(async () => {
    if (withChromium.skip) return;
    stage = await openPageStage();
    const { token } = await stage.app.register('ada');
    const text = `The staging server is argon.\n${'Nothing of note here. '.repeat(400)}\nThe spare is <b>krypton</b>.`;
    const { body } = await stage.app.call('POST', '/api/knowledge', {
      token,
      body: { title: '<img src=x onerror=alert(1)>', text },
    });
    entryId = body.id;
    await until(
      async () => (await stage.app.call('GET', `/api/knowledge/${entryId}`, { token })).body.status,
      (status) => status === 'ready',
    );
    visitor = await stage.enter('ada');
  });

  after(() => stage?.stop());

  for (const { where, viewport } of WIDTHS) {
    it(
      `finds a place and opens it, by keyboard alone, ${where}${unless}`,
      withChromium,
      async () => {
        const { page, open, tabTo, violations, complaints, press } = visitor;
        await page.setViewportSize(viewport);
        await open('/knowledge');
        await tabTo('input[type=search]');
        await page.keyboard.type('krypton spare');
        await press('Enter', 'mark:text("krypton")');
        expect(await violations()).to.equal([]);
        await tabTo('.card a', 'Enter');
        await page.waitForSelector('h1:text("<img src=x onerror=alert(1)>")');
        await page.waitForSelector('text=The spare is');
        const text = (await page.textContent('main')) ?? '';
        expect(text).to.include('The spare is <b>krypton</b>.');
        expect(text).to.not.include('argon');
        expect(await page.isVisible('main img, main b')).to.be.false();
        expect(await violations()).to.equal([]);
        expect(complaints).to.equal([]);
      },
    );
  }

  it(`goes through the parts, and back to what was found${unless}`, withChromium, async () => {
    const { page, open, click } = visitor;
    await open('/knowledge?q=argon');
    await click('.card a', 'text=The staging server is argon');
    await click('text=Next', 'text=part 2 of');
    await page.goBack();
    await page.waitForSelector('text=part 1 of');
    await page.goBack();
    await page.waitForSelector('mark:text("argon")');
    expect(new URL(page.url()).search).to.equal('?q=argon');
  });

  it(`says what to do before a search${unless}`, withChromium, async () => {
    const { page, open, violations } = visitor;
    await open('/knowledge', 'text=Search your documents');
    expect(await page.textContent('main')).to.not.include('Loading');
    expect(await violations()).to.equal([]);
  });

  it(
    `says that a source is gone, and has the search one link away${unless}`,
    withChromium,
    async () => {
      const { page, open, violations } = visitor;
      await open('/knowledge/knowledge_01jcx2kq7m8f3k2a9v5ztw4e6r');
      await page.waitForSelector('[role=alert]:has-text("Not found") a[href="/knowledge"]');
      expect(await violations()).to.equal([]);
    },
  );

  it(`says that nothing was found, and how to add something${unless}`, withChromium, async () => {
    const { open, violations } = visitor;
    await open('/knowledge?q=xenonxenon', 'text=adjutant knowledge index');
    expect(await violations()).to.equal([]);
  });
});
