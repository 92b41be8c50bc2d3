import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { unless, withChromium } from '../accounts/passkeys/browser.js';
import { notice, SECRET } from '../harness/hooks.js';
import { isLive, openPageStage, type PageStage, type Visitor } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MARKUP = '<img src=x onerror="document.title=1"><b>bold</b>';
const NOTE = { action: 'notify', actionConfig: { notifyMessage: 'Stand up.' } };
const SCHEDULE = { cron: '0 9 * * 1-5', timezone: 'Asia/Tokyo' };

describe('recurring tasks on the page', () => {
  let stage: PageStage;
  let token: string;
  let visitor: Visitor;

  before(async () => {
    if (withChromium.skip) return;
    stage = await openPageStage();
    ({ token } = await stage.app.register('ada'));
    visitor = await stage.enter('ada');
  });

  after(() => stage?.stop());

  const ask = async (method: string, path: string, body?: object) =>
    (await stage.app.call(method, path, { token, ...(body && { body }) })).body;
  const create = async (given: object): Promise<string> =>
    (await ask('POST', '/api/recurring-tasks', { title: 'standup', schedule: SCHEDULE, ...given }))
      .id;
  const runsOf = async (id: string) => (await ask('GET', `/api/recurring-tasks/${id}/runs`)).runs;

  it(`says how one is made where there are none${unless}`, withChromium, async () => {
    const { open, violations } = visitor;
    await open('/recurring', 'text=adjutant recurring create');
    expect(await violations()).to.equal([]);
  });

  it(
    `shows one, disables it and runs it now by keyboard alone${unless}`,
    withChromium,
    async () => {
      const { page, open, tabTo, violations, complaints, press } = visitor;
      const id = await create({ ...NOTE, title: MARKUP, maxRuns: 7 });
      await open('/recurring?show=enabled');
      await tabTo(`a[href="/recurring/${id}"]`);
      expect(await page.textContent('.card')).to.match(/0 9 \* \* 1-5, next: .+ 09:00 GMT\+9/);
      expect(await violations()).to.equal([]);
      await press('Enter', 'h1:text("Recurring task")');
      await page.waitForSelector('text=No runs yet');
      const text = (await page.textContent('main')) ?? '';
      for (const part of [MARKUP, '0 9 * * 1-5 (Asia/Tokyo)', '0 of 7', 'notify', 'Stand up.']) {
        expect(text).to.include(part);
      }
      expect(await page.locator('main img, main b').count()).to.equal(0);
      expect(await violations()).to.equal([]);
      await tabTo('section[aria-label=Actions] button', 'Enter');
      await page.waitForSelector('main [role=status] .state:text("disabled")');
      expect((await ask('GET', `/api/recurring-tasks/${id}`)).enabled).to.be.false();
      await page.waitForSelector('section[aria-label=Actions] button:focus[aria-disabled=false]');
      await press('Enter', 'main [role=status] .state:text("enabled")');
      await page.keyboard.press('Tab');
      await press('Enter', 'text=Its schedule does not change');
      expect(await runsOf(id)).to.equal([]);
      expect(await violations()).to.equal([]);
      await page.waitForSelector('[role=group] button:focus');
      await press('Enter', '.card .state:text("success")');
      await page.waitForSelector('.card a[href="/notifications"]:text("The notification")');
      expect(await page.textContent('.card')).to.include('manual');
      await page.waitForSelector('button:text("Run now"):focus');
      expect((await runsOf(id)).length).to.equal(1);
      expect(complaints).to.equal([]);
    },
  );

  it(`shows what fails, to which its need and its notice lead${unless}`, withChromium, async () => {
    const { page, open, violations, click } = visitor;
    const hookId = await newHook();
    const id = await create({ action: 'run_hook', actionConfig: { hookId }, title: 'nightly' });
    await ask('POST', `/api/hooks/${hookId}/disable`);
    await open(`/recurring/${id}`, 'main [role=status] .state:text("enabled")');
    await isLive(page);
    await ask('POST', `/api/recurring-tasks/${id}/run`);
    await page.waitForSelector('.card .state:text("error")');
    await page.waitForSelector('main [role=status] .state:text("failing")');
    expect(await page.textContent('.card')).to.include('The hook gone is disabled');
    expect(await violations()).to.equal([]);
    for (const path of ['/', '/notifications']) {
      await open(path);
      await click(`a[href="/recurring/${id}"]`, 'h1:text("Recurring task")');
      await page.waitForSelector('text=nightly');
    }
  });

  it(`leads to what a run began${unless}`, withChromium, async () => {
    const { page, open, violations, click } = visitor;
    const id = await create({ action: 'create_task', actionConfig: { title: 'Water' } });
    await ask('POST', `/api/recurring-tasks/${id}/run`);
    await open(`/recurring/${id}`);
    await click('text="The task"', 'h1:text("Task")');
    await page.waitForSelector('main strong:text("Water")');
    expect(await violations()).to.equal([]);
  });

  it(`says that one is gone, and has its list one link away${unless}`, withChromium, async () => {
    const { page, open } = visitor;
    await open('/recurring/recurring_01jcx2kq7m8f3k2a9v5ztw4e6r');
    await page.waitForSelector('[role=alert] a[href="/recurring"]');
  });

  const newHook = async (): Promise<string> => {
    const triggerConfig = { webhookPath: 'gone', webhookSecret: SECRET };
    return (await ask('POST', '/api/hooks', notice({ name: 'gone', triggerConfig }))).id;
  };
});
