import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { unless, withChromium } from '../accounts/passkeys/browser.js';
import { askApproval } from '../harness/approval.js';
import { isLive, openPageStage, type PageStage, type Visitor, WIDTHS } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('approvals on the page', () => {
  let stage: PageStage;
  let ada: { id: string; token: string };
  let visitor: Visitor;

  before(async () => {
    if (withChromium.skip) return;
    stage = await openPageStage();
    ada = await stage.app.register('ada');
    visitor = await stage.enter('ada');
  });

  after(() => stage?.stop());

  const statusOf = async (id: string) => {
    const { body } = await stage.app.call('GET', `/api/chat/approvals/${id}`, { token: ada.token });
    return [body.status, body.decisionReason];
  };

  for (const { where, viewport } of WIDTHS) {
    it(
      `shows the whole call, and allows it by keyboard alone, ${where}${unless}`,
      withChromium,
      async () => {
        const { page, open, tabTo, violations, complaints, press } = visitor;
        await page.setViewportSize(viewport);
        const id = await askApproval(stage.app, ada.id, {
          body: 'a'.repeat(9000),
          url: 'http://127.0.0.1:9/deploy',
        });
        await open('/');
        await tabTo(`a[href="/approvals/${id}"]`, 'Enter');
        await page.waitForSelector('main pre');
        const text = (await page.textContent('main')) ?? '';
        expect(text).to.include('http://127.0.0.1:9/deploy');
        expect(text).to.match(
          /You \(direct call\).+httpActionrequest.+POST.+9\/deploy.+a{9000}.+Reason/s,
        );
        expect(await violations()).to.equal([]);
        // Nothing was read to its end yet, so nothing can be allowed.
        const allow = page.getByRole('button', {
          name: 'Allow',
          description: 'Scroll to the end of the call to allow it.',
        });
        expect(await allow.getAttribute('aria-disabled')).to.equal('true');
        await allow.dispatchEvent('click');
        expect(await statusOf(id)).to.equal(['pending', null]);
        await tabTo('button.main');
        await page.waitForSelector('button.main[aria-disabled=false]');
        await press('Enter', '[role=status]:focus .state:text("approved")');
        await page.waitForSelector('text=Allowed: This call only');
        expect(await statusOf(id)).to.equal(['approved', null]);
        expect(await violations()).to.equal([]);
        expect(complaints).to.equal([]);
      },
    );
  }

  for (const { where, viewport } of WIDTHS) {
    it(`denies with a reason, by keyboard alone, ${where}${unless}`, withChromium, async () => {
      const { page, open, tabTo, press } = visitor;
      await page.setViewportSize(viewport);
      const id = await askApproval(stage.app, ada.id);
      await open(`/approvals/${id}`);
      await tabTo('.answer summary', 'Enter');
      await tabTo('.answer input:not([type])');
      await page.keyboard.type('not on a Friday');
      await tabTo('.answer button.danger');
      await page.waitForSelector('button.danger[aria-disabled=false]');
      await press('Enter', '.state:text("denied")');
      expect(await statusOf(id)).to.equal(['denied', 'not on a Friday']);
    });
  }

  it(
    `shows one that arrives, and one that was answered elsewhere${unless}`,
    withChromium,
    async () => {
      const { page, open, click } = visitor;
      await open('/');
      await isLive(page);
      const id = await askApproval(stage.app, ada.id, { url: 'http://127.0.0.1:9/later' });
      await click(`a[href="/approvals/${id}"]`, 'text=http://127.0.0.1:9/later');
      const body = { approvalId: id, approved: false };
      await stage.app.call('POST', '/api/chat/approve', { token: ada.token, body });
      await page.waitForSelector('.state:text("denied")');
      expect(await page.isVisible('text=Allow')).to.be.false();
    },
  );

  it(`takes no second tap for an answer, however many come${unless}`, withChromium, async () => {
    const { page, open } = visitor;
    const id = await askApproval(stage.app, ada.id);
    await open('/approvals');
    await page.click(`a[href="/approvals/${id}"]`);
    const allow = page.getByRole('button', { name: 'Allow' });
    await allow.waitFor();
    for (let taps = 0; taps < 8; taps++) await allow.dispatchEvent('click');
    expect(await statusOf(id)).to.equal(['pending', null]);
    await page.waitForSelector('button.main[aria-disabled=false]');
    await allow.click();
    await page.waitForSelector('.state:text("approved")');
  });

  it(`shows those of one agent where a link names it${unless}`, withChromium, async () => {
    const { open, click } = visitor;
    const id = await askApproval(stage.app, ada.id);
    await open('/approvals?agentId=agent_none', 'text=No approvals yet.');
    await click('text=Approvals of all agents', `a[href="/approvals/${id}"]`);
  });

  it(
    `lists those that wait first, each with its host and its time${unless}`,
    withChromium,
    async () => {
      const { page, open, violations } = visitor;
      const first = await askApproval(stage.app, ada.id, { url: 'http://127.0.0.1:9/first' });
      const second = await askApproval(stage.app, ada.id, { url: 'http://127.0.0.1:7/second' });
      const body = { approvalId: second, approved: false };
      await stage.app.call('POST', '/api/chat/approve', { token: ada.token, body });
      await open('/');
      const card = `li:has(a[href="/approvals/${first}"])`;
      await page.waitForSelector(card);
      expect(await page.textContent(`${card} .at`)).to.match(/^\d+ (minutes|hours) left$/);
      await open('/approvals', `.card a[href="/approvals/${second}"]`);
      expect(await page.textContent('.card:first-child'))
        .to.include('pending')
        .and.include('127.0.0.1:9');
      expect(await page.textContent('.card:first-child')).to.include('You (direct call)');
      expect(await violations()).to.equal([]);
      await page.selectOption('select', 'denied');
      await page.waitForSelector(`.card:first-child a[href="/approvals/${second}"]`);
      expect(await page.locator(`a[href="/approvals/${first}"]`).count()).to.equal(0);
      expect(page.url()).to.include('?status=denied');
    },
  );

  it(`shows nothing of another user's${unless}`, withChromium, async () => {
    await stage.app.restart({ registration: 'open' });
    stage.app.url = stage.app.url.replace('127.0.0.1', 'localhost');
    const bob = await stage.app.register('bob');
    const id = await askApproval(stage.app, bob.id, { url: 'http://127.0.0.1:9/secret' });
    const { page, open } = await stage.enter('ada');
    await open(`/approvals/${id}`, '[role=alert]');
    expect(await page.textContent('main')).to.not.include('secret');
  });
});
