import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { unless, withChromium } from '../accounts/passkeys/browser.js';
import { sign, until } from '../harness/app.js';
import { notice, SECRET } from '../harness/hooks.js';
import { openTarget, type Target } from '../harness/target.js';
import { isLive, openPageStage, type PageStage, type Visitor, WIDTHS } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MARKUP = '<img src=x onerror="document.title=1"><b>bold</b>';

describe('executions on the page', () => {
  let stage: PageStage;
  let token: string;
  let visitor: Visitor;
  let target: Target;
  let hookId: string;

  before(async () => {
    if (withChromium.skip) return;
    target = await openTarget();
    target.answer = (response) => response.writeHead(400).end('no');
    stage = await openPageStage({ config: { egressAllow: [target.address] } });
    ({ token } = await stage.app.register('ada'));
    hookId = await newHook({ name: MARKUP });
    visitor = await stage.enter('ada');
  });

  after(async () => {
    await stage?.stop();
    target?.close();
  });

  const ask = async (method: string, path: string, body?: object) =>
    (await stage.app.call(method, path, { token, ...(body && { body }) })).body;
  const newHook = async (given: object): Promise<string> =>
    (await ask('POST', '/api/hooks', notice({ ...given }))).id;
  const deliver = async (path: string, body: object): Promise<string> => {
    const text = JSON.stringify(body);
    const headers = { 'x-hub-signature-256': sign(SECRET, text), 'x-github-event': 'push' };
    const type = 'application/json';
    const request = { body: text, type, headers };
    const reply = await stage.app.call('POST', `/api/webhooks/${path}`, request);
    const [id] = reply.body.executions;
    await until(
      () => ask('GET', `/api/hooks/executions/${id}`),
      ({ status }) => !['queued', 'running'].includes(status),
    );
    return id;
  };
  const runs = async () => (await ask('GET', `/api/hooks/${hookId}/executions`)).executions;

  for (const { where, viewport } of WIDTHS) {
    it(
      `shows an execution whole, and replays it by keyboard alone, ${where}${unless}`,
      withChromium,
      async () => {
        const { page, open, tabTo, violations, complaints, press } = visitor;
        await page.setViewportSize(viewport);
        const id = await deliver('issues', { n: MARKUP, long: 'a'.repeat(3000) });
        const { length } = await runs();
        await open('/executions');
        await tabTo(`a[href="/executions/${id}"]`);
        expect(await violations()).to.equal([]);
        await press('Enter', 'h1:text("Execution")');
        await page.waitForSelector('text=Payload');
        const text = (await page.textContent('main')) ?? '';
        for (const part of [
          MARKUP,
          'success',
          'push',
          'Show all 3,000 characters',
          'x-github-event',
        ]) {
          expect(text).to.include(part);
        }
        expect(await page.locator('main img, main b').count()).to.equal(0);
        expect(await violations()).to.equal([]);
        await tabTo('section[aria-label=Replay] button', 'Enter');
        expect(await runs()).to.have.length(length);
        expect(await violations()).to.equal([]);
        await page.waitForSelector('[role=group] button:focus');
        await press('Enter', `a[href="/executions/${id}"]:text("The original execution")`);
        const [again] = await runs();
        expect([again.replayOf, page.url()]).to.equal([
          id,
          `${stage.app.url}/executions/${again.id}`,
        ]);
        expect(complaints).to.equal([]);
      },
    );
  }

  it(`replays nothing where the question is answered with no${unless}`, withChromium, async () => {
    const { page, open, click } = visitor;
    const before = await runs();
    await open(`/executions/${before[0].id}`);
    await page.click('section[aria-label=Replay] button');
    await click('text="No"', 'section[aria-label=Replay] button:text("Replay"):focus');
    expect(await runs()).to.have.length(before.length);
  });

  it(`asks again where the effect may be done${unless}`, withChromium, async () => {
    const { page, open, violations, click } = visitor;
    const triggerConfig = { webhookPath: 'fails', webhookSecret: SECRET };
    const actionConfig = { webhookUrl: `${target.url}/sink` };
    await newHook({ name: 'fails', triggerConfig, action: 'webhook', actionConfig });
    const id = await deliver('fails', { n: 1 });
    await open(`/executions/${id}`, 'h2:text("Error")');
    await click('text="Replay"', `text=webhook, ${target.url}/sink?`);
    await click('text="Run it again"', 'text=the call may have succeeded');
    expect(await violations()).to.equal([]);
    await page.click('text="Replay anyway"');
    await click('text="Run it again anyway"', 'text=The original execution');
  });

  it(`lists those of a status, and more of them${unless}`, withChromium, async () => {
    const { page, open, tabTo } = visitor;
    await newHook({ name: 'many', triggerConfig: { webhookPath: 'many', webhookSecret: SECRET } });
    for (let n = 0; n < 33; n++) await deliver('many', { n });
    await open('/executions?status=success', '.card');
    expect(await page.locator('.card').count()).to.equal(30);
    expect(await page.locator('.card', { hasText: 'fails' }).count()).to.equal(0);
    await tabTo('.buttons button', 'Enter');
    await page.waitForSelector('.card:nth-child(31):focus');
    await page.selectOption('select', 'error');
    await page.waitForSelector('.card:has-text("fails")');
    expect(await page.locator('.card', { hasText: 'many' }).count()).to.equal(0);
    expect(page.url()).to.include('?status=error');
  });

  it(`lists those of one hook, and of all again${unless}`, withChromium, async () => {
    const { page, open, violations, click } = visitor;
    await open(`/executions?hookId=${hookId}`, '.card');
    await isLive(page);
    await page.waitForSelector('main p strong');
    expect(await page.textContent('main p strong')).to.equal(MARKUP);
    expect(await page.locator('.card').count()).to.equal((await runs()).length);
    expect(await page.locator('.card', { hasText: 'many' }).count()).to.equal(0);
    expect(await violations()).to.equal([]);
    const id = await deliver('issues', { n: 'of one' });
    await page.waitForSelector(`.card:first-child a[href="/executions/${id}"]`);
    await click('text=Executions of all hooks', '.card:has-text("many")');
    expect(new URL(page.url()).search).to.equal('');
    await open('/executions?hookId=hook_01jcx2kq7m8f3k2a9v5ztw4e6r');
    await page.waitForSelector('[role=alert] a[href="/executions"]');
  });

  it(`shows one that begins, with the focus where it was${unless}`, withChromium, async () => {
    const { page, open, tabTo } = visitor;
    await open('/executions');
    await isLive(page);
    const { id: shown } = (await ask('GET', '/api/hooks/executions/recent')).executions[0];
    await tabTo(`a[href="/executions/${shown}"]`);
    const id = await deliver('issues', { n: 'live' });
    await page.waitForSelector(`.card:first-child a[href="/executions/${id}"]`);
    await page.waitForSelector(`a[href="/executions/${shown}"]:focus`);
  });

  it(`says that one is gone, and has its list one link away${unless}`, withChromium, async () => {
    const { page, open, violations } = visitor;
    await open('/executions/execution_01jcx2kq7m8f3k2a9v5ztw4e6r');
    await page.waitForSelector('[role=alert] a[href="/executions"]');
    expect(await violations()).to.equal([]);
  });
});
