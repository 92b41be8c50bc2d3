import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { unless, withChromium } from '../accounts/passkeys/browser.js';
import { inside } from '../harness/inside.js';
import { isLive, openPageStage, type PageStage, type Visitor } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MARKUP = '<img src=x onerror="document.title=1"><b>bold</b>';

describe('memories on the page', () => {
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

  const ask = (method: string, path: string, body?: object) =>
    stage.app.call(method, path, { token: ada.token, ...(body && { body }) });
  const keep = async (given: object): Promise<string> =>
    (await ask('POST', '/api/memories', given)).body.id;
  /** Memory that an agent has saved after reading external text. */
  const keepUnconfirmed = async (text: string): Promise<{ id: string; agentId: string }> => {
    const id = await keep({ text });
    const agentId = (await ask('POST', '/api/agents', { prompt: 'Hello' })).body.id;
    await stage.app.app.store.db
      .updateTable('memories')
      .set({ confirmed: 0, created_by: agentId })
      .where('id', '=', id)
      .execute();
    return { id, agentId };
  };

  it(`says how one is made where there are none${unless}`, withChromium, async () => {
    const { page, open, violations } = visitor;
    await open('/memories', 'text=adjutant memories create');
    expect(await page.locator('h2').allTextContents()).to.equal(['Saved memories']);
    expect(await violations()).to.equal([]);
  });

  it(
    `shows first what waits, and confirms one by keyboard alone${unless}`,
    withChromium,
    async () => {
      const { page, open, tabTo, violations, complaints } = visitor;
      const { id, agentId } = await keepUnconfirmed(MARKUP);
      const newer = await keep({ text: 'Answers in German.', pinned: true, about: 'preference' });
      await open('/memories', 'h2:text("To confirm")');
      await page.waitForSelector('section:last-child .card');
      const links: unknown = await page.evaluate(
        `[...document.querySelectorAll('.card a')].map(({ pathname }) => pathname)`,
      );
      expect(links).to.equal([`/memories/${id}`, `/memories/${newer}`]);
      expect(await page.textContent('section:last-child .card')).to.include('pinned');
      expect(await violations()).to.equal([]);
      await tabTo(`a[href="/memories/${id}"]`, 'Enter');
      await page.waitForSelector('h1:text("Memory")');
      await page.waitForSelector('main [role=status] .state:text("unconfirmed")');
      expect(await page.textContent('main'))
        .to.include(MARKUP)
        .and.to.include('is not used until you confirm it');
      await page.waitForSelector(`dd a[href="/agents/${agentId}"]:text("An agent")`);
      expect(await page.locator('main img, main b').count()).to.equal(0);
      expect(await violations()).to.equal([]);
      await tabTo('button.main', 'Enter');
      await page.waitForSelector('main [role=status] .state:text-is("kept")');
      await page.waitForSelector('h1:focus');
      expect((await ask('GET', `/api/memories/${id}`)).body.confirmed).to.be.true();
      expect(await page.locator('button.main').count()).to.equal(0);
      expect(await violations()).to.equal([]);
      expect(complaints).to.equal([]);
    },
  );

  it(`forgets one, once that is asked${unless}`, withChromium, async () => {
    const { page, open, violations, click } = visitor;
    const id = await keep({ text: 'The staging server is argon.' });
    await open(`/memories/${id}`);
    await page.click('text="Delete"');
    await page.click('text="No"');
    expect((await ask('GET', `/api/memories/${id}`)).status).to.equal(200);
    await page.click('text="Delete"');
    expect(await violations()).to.equal([]);
    await click('text="Delete it"', 'h1:text("Memories")');
    expect((await ask('GET', `/api/memories/${id}`)).status).to.equal(404);
    await open(`/memories/${id}`, '[role=alert] a[href="/memories"]');
  });

  it(
    `shows one that an agent saves, and leads there from home${unless}`,
    withChromium,
    async () => {
      const { page, open, click } = visitor;
      await open('/memories', 'h2:text("Saved memories")');
      await isLive(page);
      const { id } = await keepUnconfirmed('The staging server is xenon.');
      inside(stage.app.app).hub.publish(ada.id, 'memory.saved', { id });
      await page.waitForSelector(`section:first-of-type a[href="/memories/${id}"]`);
      await page.waitForSelector('h2:text("To confirm")');
      await open('/');
      await click(`.card a[href="/memories/${id}"]`, 'h1:text("Memory")');
    },
  );

  it(`says what to type for a credential that runs out${unless}`, withChromium, async () => {
    const { open, violations } = visitor;
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const credential = { name: 'github-pat', type: 'api_key', value: 'a secret', expiresAt };
    expect((await ask('POST', '/api/vault', credential)).status).to.equal(201);
    await open('/', '.card code:text-is("adjutant vault rotate github-pat")');
    expect(await violations()).to.equal([]);
  });
});
