import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { unless, withChromium } from '../accounts/passkeys/browser.js';
import { until } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { isLive, openPageStage, type PageStage, type Visitor, WIDTHS } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MARKUP = '<img src=x onerror="document.title=1"><b>bold</b>';

describe('notifications on the page', () => {
  let stage: PageStage;
  let ada: { id: string; token: string };
  let visitor: Visitor;

  before(async () => {
    if (withChromium.skip) return;
    stage = await openPageStage();
    ada = await stage.app.register('ada');
    visitor = await stage.enter('ada');
    // Notification of the login.
    await stage.app.call('POST', '/api/notifications/read-all', { token: ada.token });
  });

  after(() => stage?.stop());

  const tell = async (title: string, link: string | null, body = ''): Promise<void> => {
    const notice = { kind: 'hook_notice', title, body, link } as const;
    await inside(stage.app.app).outbox.send(ada.id, notice);
    await until(listed, (rows) => rows.some((row) => row.title === title));
  };
  const listed = async (): Promise<{ title: string; readAt: string | null }[]> =>
    (await stage.app.call('GET', '/api/notifications', { token: ada.token })).body.notifications;
  const unread = async () =>
    (await listed()).filter(({ readAt }) => readAt === null).map(({ title }) => title);

  for (const { where, viewport } of WIDTHS) {
    it(
      `shows what was told as text, and marks one as read by keyboard alone, ${where}${unless}`,
      withChromium,
      async () => {
        const { page, open, tabTo, violations, complaints } = visitor;
        await page.setViewportSize(viewport);
        await stage.app.call('POST', '/api/notifications/read-all', { token: ada.token });
        await tell('Another one', null);
        await tell(MARKUP, null, `${MARKUP} ${'long '.repeat(100)}end`);
        await open('/notifications', '.card');
        expect(await page.textContent('main'))
          .to.include(MARKUP)
          .and.to.not.include('long end');
        expect(await page.locator('main img, main b').count()).to.equal(0);
        expect(await violations()).to.equal([]);
        await page.click('text=Show all');
        expect(await page.textContent('main')).to.include('long end');
        await tabTo('.card:first-child > button', 'Enter');
        await page.waitForSelector('.card:first-child .state:text("read")');
        await page.waitForSelector('.card:first-child strong:focus');
        expect(await unread()).to.equal(['Another one']);
        expect(await violations()).to.equal([]);
        expect(complaints).to.equal([]);
      },
    );
  }

  for (const { where, viewport } of WIDTHS) {
    it(
      `shows one that arrives, and marks all as read by keyboard alone, ${where}${unless}`,
      withChromium,
      async () => {
        const { page, open, tabTo, violations } = visitor;
        await page.setViewportSize(viewport);
        await open('/notifications?unread');
        await isLive(page);
        await stage.app.call('POST', '/api/notifications/read-all', { token: ada.token });
        await tell('One more', null);
        await tell('It has just come', null);
        await page.waitForSelector('.card:first-child:has-text("It has just come")');
        await page.waitForSelector('[role=status]:text("2 unread")');
        await tabTo('main > button, main > .buttons button', 'Enter');
        await page.waitForSelector('text=No unread notifications.');
        expect(await unread()).to.equal([]);
        expect(await violations()).to.equal([]);
      },
    );
  }

  it(`links to places of the page alone${unless}`, withChromium, async () => {
    const { page, open } = visitor;
    await tell('Of the API', '/api/webhooks/webhook_1');
    await tell('Elsewhere', '//elsewhere.example/agents/agent_1');
    await tell('A script', 'javascript:alert(1)');
    await tell('About operations', '/operations');
    await open('/notifications', '.card:has-text("A script")');
    const links = page.locator('.card a');
    expect(await links.allTextContents()).to.equal([
      'About operations',
      'New device logged in to your account',
    ]);
    await links.first().click();
    await page.waitForSelector('h1:text("Operations")');
    await until(unread, (titles) => !titles.includes('About operations'));
  });
});
