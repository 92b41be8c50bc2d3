import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Page } from 'playwright-core';
import { unless, withChromium } from '../accounts/passkeys/browser.js';
import { untilMatches } from '../harness/app.js';
import { askApproval } from '../harness/approval.js';
import { openPageStage, type PageStage, WIDTHS } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MAIN = ['Home', 'Approvals', 'Chat', 'Notifications'];
const OTHERS = [
  'Executions',
  'Agents',
  'Tasks',
  'Pipelines',
  'Recurring tasks',
  'Operations',
  'Knowledge',
  'Mail',
  'Memories',
  'This device',
];

describe('the navigation of the page', () => {
  let stage: PageStage;
  let ada: { id: string; token: string };

  before(async () => {
    if (withChromium.skip) return;
    stage = await openPageStage();
    ada = await stage.app.register('ada');
  });

  after(() => stage?.stop());

  const deny = (approvalId: string) =>
    stage.app.call('POST', '/api/chat/approve', {
      token: ada.token,
      body: { approvalId, approved: false },
    });
  const shown = (page: Page): Promise<string[]> => page.locator('nav li:visible').allInnerTexts();
  const names = async (page: Page): Promise<string[]> =>
    (await shown(page)).map((text) => text.replace(/\s+\d+\+?$/, ''));

  it(`has four places and the rest behind one more on a phone${unless}`, withChromium, async () => {
    const { page, open, tabTo, violations, complaints } = await stage.enter('ada');
    await open('/tasks');
    expect(await names(page)).to.equal([...MAIN, 'More']);
    expect(await page.locator('nav [aria-current]:visible').textContent()).to.equal('More');
    await tabTo('nav .more a', 'Enter');
    await page.waitForSelector('h1:text("More")');
    expect(await page.locator('main a').allInnerTexts()).to.equal(OTHERS);
    expect(await violations()).to.equal([]);
    await tabTo('main a[href="/memories"]', 'Enter');
    await page.waitForSelector('h1:text("Memories")');
    await page.goBack();
    await page.waitForSelector('h1:text("More")');
    expect(complaints).to.equal([]);
  });

  it(`has all places at the side of a wide screen${unless}`, withChromium, async () => {
    const { page, open } = await stage.enter('ada', WIDTHS[1].viewport);
    await open('/tasks');
    expect(await names(page)).to.equal([...MAIN, ...OTHERS]);
    expect(await page.locator('nav [aria-current]:visible').textContent()).to.equal('Tasks');
  });

  for (const { where, viewport } of WIDTHS) {
    it(
      `counts the calls that wait and what is unread, ${where}${unless}`,
      withChromium,
      async () => {
        const { page, open, violations, click } = await stage.enter('ada', viewport);
        const { app } = stage;
        const { token } = ada;
        await app.call('POST', '/api/notifications/read-all', { token });
        await open('/tasks', 'nav a:text-is("Approvals")');
        expect(await page.title()).to.equal('Tasks · Adjutant');
        const approvalId = await askApproval(app, ada.id);
        await page.waitForSelector('nav a:has-text("Approvals") .count:text-is("1")');
        await page.waitForSelector('nav a:has-text("Notifications") .count:text-is("1")');
        await untilMatches(() => page.title(), '(1) Tasks · Adjutant');
        expect(await violations()).to.equal([]);
        await deny(approvalId);
        await page.waitForSelector('nav a:text-is("Approvals")');
        await untilMatches(() => page.title(), 'Tasks · Adjutant');
        // Deciding the call has marked its notification as read.
        await page.waitForSelector('nav a:text-is("Notifications")');
        const next = await askApproval(app, ada.id);
        await page.waitForSelector('nav a:has-text("Notifications") .count:text-is("1")');
        await page.click('nav >> text=Notifications');
        await click('text=Mark all as read', 'nav a:text-is("Notifications")');
        await deny(next);
      },
    );
  }

  it(`says that more wait than it counts${unless}`, withChromium, async () => {
    const { page } = await stage.enter('ada');
    for (let at = 0; at < 10; at++) await askApproval(stage.app, ada.id);
    await page.waitForSelector('nav a:has-text("Approvals") .count:text-is("9+")');
    // The whole bar fits on the smallest screen, with the longest counts.
    await page.setViewportSize({ width: 320, height: 640 });
    await page.evaluate(
      `for (const one of document.querySelectorAll('.count')) one.textContent = '99+'`,
    );
    const [more, home] = await Promise.all(
      ['.more', 'li:first-child'].map((place) => page.locator(`nav ${place}`).boundingBox()),
    );
    expect(Math.ceil((more?.x ?? 0) + (more?.width ?? 999))).to.be.most(320);
    expect(home?.x).to.equal(0);
  });
});
