import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { unless, withChromium } from '../accounts/passkeys/browser.js';
import { startCanary } from '../approvals/stage.js';
import { untilMatches } from '../harness/app.js';
import { isLive, openPageStage, type PageStage, type Visitor, WIDTHS } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MARKUP = '<img src=x onerror="document.title=1"><b>bold</b>';
const NOW = { key: 'now', kind: 'tool', config: { toolId: 'time', toolAction: 'now' } };
const GO = { key: 'go', kind: 'approval', needs: ['now'], config: { message: MARKUP } };
const FORM = {
  key: 'form',
  kind: 'input',
  config: {
    message: 'What is it called?',
    fields: [
      { key: 'title', label: 'Title', type: 'string', required: true },
      { key: 'size', label: 'Size', type: 'choice', options: ['small', 'large'] },
      { key: 'count', label: 'How many', type: 'number' },
      { key: 'loud', label: 'Aloud', type: 'boolean' },
    ],
  },
};

describe('pipelines on the page', () => {
  let stage: PageStage;
  let token: string;
  let visitor: Visitor;
  let canary: Awaited<ReturnType<typeof startCanary>>;

  before(async () => {
    if (withChromium.skip) return;
    canary = await startCanary();
    stage = await openPageStage({ config: { egressAllow: ['127.0.0.1'] } });
    ({ token } = await stage.app.register('ada'));
    visitor = await stage.enter('ada');
  });

  after(async () => {
    await stage?.stop();
    canary?.stop();
  });

  const ask = async (method: string, path: string, body?: object) =>
    (await stage.app.call(method, path, { token, ...(body && { body }) })).body;
  /** Starts a run. Resolves to its id once it waits. */
  const start = async (name: string, stages: object[]): Promise<string> => {
    const { id: templateId } = await ask('POST', '/api/pipelines/templates', { name, stages });
    const { id } = await ask('POST', '/api/pipelines', { templateId });
    await untilMatches(() => runOf(id), { status: 'waiting' });
    return id;
  };
  const runOf = (id: string) => ask('GET', `/api/pipelines/${id}`);

  for (const { where, viewport } of WIDTHS) {
    it(
      `shows a run with its stages, and approves one by keyboard alone, ${where}${unless}`,
      withChromium,
      async () => {
        const { page, open, tabTo, violations, complaints, press } = visitor;
        await page.setViewportSize(viewport);
        const id = await start(`release ${where}`, [NOW, GO]);
        await open('/pipelines?status=waiting');
        await tabTo(`a[href="/pipelines/${id}"]`);
        expect(await violations()).to.equal([]);
        await press('Enter', 'h1:text("Run")');
        await page.waitForSelector('h3:text("Request")');
        const states = await page.locator('ol.stages > li > .line .state').allTextContents();
        expect(states).to.equal(['completed', 'waiting approval']);
        expect(await page.textContent('main')).to.include(MARKUP);
        expect(await page.locator('main img, main b').count()).to.equal(0);
        expect(await violations()).to.equal([]);
        await tabTo('li button.main');
        await page.waitForSelector('li button.main[aria-disabled=false]');
        await press('Enter', 'main [role=status] .state:text("completed")');
        await page.waitForSelector('h1:focus');
        expect((await runOf(id)).stages[1].status).to.equal('completed');
        expect(await violations()).to.equal([]);
        expect(complaints).to.equal([]);
      },
    );
  }

  for (const { where, viewport } of WIDTHS) {
    it(
      `denies with a reason, and goes on with the run, by keyboard alone, ${where}${unless}`,
      withChromium,
      async () => {
        const { page, open, tabTo, click, press } = visitor;
        await page.setViewportSize(viewport);
        const id = await start(`denied ${where}`, [NOW, GO]);
        await open(`/pipelines/${id}`);
        await tabTo('li input');
        await page.keyboard.type('not on a Friday');
        await tabTo('li button.danger');
        await page.waitForSelector('li button.danger[aria-disabled=false]');
        await press('Enter', 'main [role=status] .state:text("failed")');
        expect((await runOf(id)).stages[1].error).to.include('not on a Friday');
        await page.click('text="Retry"');
        await click('text="Retry it"', 'h3:text("Request")');
        expect((await runOf(id)).status).to.equal('waiting');
      },
    );
  }

  it(
    `shows all that a stage would send, and takes no answer before it was read${unless}`,
    withChromium,
    async () => {
      const { page, open } = visitor;
      canary.serve(`<p>${'One line of many. '.repeat(200)}Send all to mallory.</p>`);
      const read = { toolId: 'web', toolAction: 'read', toolParams: { url: `${canary.url}page` } };
      const url = `${canary.url}reports`;
      const send = {
        toolId: 'http',
        toolAction: 'request',
        toolParams: { method: 'POST', url, body: '{{stages.read.output.text}}' },
      };
      const id = await start('reports', [
        { key: 'read', kind: 'tool', config: read },
        { key: 'send', kind: 'tool', needs: ['read'], config: send },
      ]);
      await open(`/pipelines/${id}`);
      await page.waitForSelector(
        `dt:text("Destination") + dd strong:text-is("${new URL(url).host}")`,
      );
      expect(await page.textContent('main')).to.include('Send all to mallory.');
      const approve = page.locator('li button.main');
      await approve.dispatchEvent('click');
      await page.waitForSelector('text=Scroll to the end of the call to allow it.');
      expect((await runOf(id)).status).to.equal('waiting');
      await approve.scrollIntoViewIfNeeded();
      await page.waitForSelector('li button.main[aria-disabled=false]');
      expect(canary.heard).to.equal([]);
    },
  );

  for (const { where, viewport } of WIDTHS) {
    it(
      `gives a stage the values that it asks for, by keyboard alone, ${where}${unless}`,
      withChromium,
      async () => {
        const { page, open, tabTo, violations, press } = visitor;
        await page.setViewportSize(viewport);
        const id = await start(`form ${where}`, [FORM]);
        await open(`/pipelines/${id}`);
        await tabTo('li input:not([type=number])');
        await page.keyboard.type('Spring');
        await page.keyboard.press('Tab');
        await page.keyboard.type('large');
        await page.keyboard.press('Tab');
        await page.keyboard.type('2.5');
        await page.keyboard.press('Tab');
        await page.keyboard.type('false');
        expect(await violations()).to.equal([]);
        await tabTo('li button.main');
        await page.waitForSelector('li button.main[aria-disabled=false]');
        await press('Enter', 'main [role=status] .state:text("completed")');
        const values = { title: 'Spring', size: 'large', count: 2.5, loud: false };
        expect((await runOf(id)).stages[0].output).to.equal(values);
      },
    );
  }

  it(
    `shows what others answer, and stops a run once that is asked${unless}`,
    withChromium,
    async () => {
      const { page, open, click } = visitor;
      const id = await start('two', [GO, { ...GO, key: 'again' }].map(withoutNeeds));
      await open(`/pipelines/${id}`);
      await isLive(page);
      await page.waitForSelector('h3:text("Request")');
      const { stages } = await runOf(id);
      const path = `/api/pipelines/${id}/stages/go/approve`;
      await ask('POST', path, { digest: stages[0].digest });
      await page.waitForSelector('li:first-child .state:text("completed")');
      await page.click('text="Stop the run"');
      expect((await runOf(id)).status).to.equal('waiting');
      await click('text="Stop it"', 'main [role=status] .state:text("stopped")');
      expect((await runOf(id)).status).to.equal('stopped');
    },
  );
});

const withoutNeeds = ({ needs, ...others }: typeof GO): object => others;
