import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { unless, withChromium } from '../accounts/passkeys/browser.js';
import { isLive, openPageStage, type PageStage, type Visitor, WIDTHS } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MARKUP = '<img src=x onerror="document.title=1"><b>bold</b>';

describe('tasks on the page', () => {
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
  const note = async (task: object): Promise<string> => (await ask('POST', '/api/tasks', task)).id;
  const statusOf = async (id: string): Promise<string> =>
    (await ask('GET', `/api/tasks/${id}`)).status;

  /** Creates an overdue subtask, and two tasks of which one blocks the other. */
  const noteMany = async (): Promise<string> => {
    const first = await note({ title: 'First of all' });
    const parentId = await note({ title: 'The whole' });
    const about = { notes: MARKUP, tags: ['servers'], priority: 3, dueAt: '2026-01-31T09:30:00Z' };
    const id = await note({ title: MARKUP, parentId, ...about });
    await note({ title: 'Later', blockedBy: [first] });
    return id;
  };

  for (const { where, viewport } of WIDTHS) {
    it(
      `shows a task, and completes and reopens it by keyboard alone, ${where}${unless}`,
      withChromium,
      async () => {
        const { page, open, tabTo, violations, complaints } = visitor;
        await page.setViewportSize(viewport);
        const id = await noteMany();
        await open('/tasks?due=overdue', '.card');
        expect(await page.locator('.card').count()).to.equal(1);
        expect(await violations()).to.equal([]);
        await tabTo(`a[href="/tasks/${id}"]`, 'Enter');
        await page.waitForSelector('h1:text("Task")');
        await page.waitForSelector('text=Part of');
        const text = (await page.textContent('main')) ?? '';
        for (const part of [MARKUP, 'overdue', 'urgent', 'servers', 'The whole']) {
          expect(text).to.include(part);
        }
        expect(await page.locator('main img, main b').count()).to.equal(0);
        expect(await violations()).to.equal([]);
        await tabTo('button.main', 'Enter');
        await page.waitForSelector('main [role=status] .state:text("done")');
        expect(await statusOf(id)).to.equal('done');
        await page.waitForSelector('h1:focus');
        await tabTo('section[aria-label=Actions] button', 'Enter');
        await page.waitForSelector('main [role=status] .state:text("open")');
        expect(await statusOf(id)).to.equal('open');
        expect(complaints).to.equal([]);
        // Otherwise the page would reload it and report that it is gone.
        await open('/');
        await ask('DELETE', `/api/tasks/${id}`);
      },
    );
  }

  it(`shows the due time by the reader's clock${unless}`, withChromium, async () => {
    const id = await note({ title: 'A call', dueAt: '2026-07-01T15:30:00Z' });
    const context = await stage.browser.newContext({
      timezoneId: 'Asia/Tokyo',
      locale: 'en-GB',
      storageState: await visitor.context.storageState(),
    });
    const page = await context.newPage();
    await page.goto(`${stage.app.url}/tasks/${id}`);
    const time = page.locator('main time').first();
    await time.waitFor();
    expect(await time.textContent()).to.equal('2 Jul 2026, 00:30');
    await context.close();
  });

  it(`completes one with its parts, once that is asked${unless}`, withChromium, async () => {
    const { open, violations, click } = visitor;
    const id = await note({ title: 'With parts' });
    const part = await note({ title: 'A part', parentId: id });
    await open(`/tasks/${id}`, 'h2:text("Subtasks")');
    await click('button.main', '[role=alert]:has-text("A part")');
    expect([await statusOf(id), await violations()]).to.equal(['open', []]);
    await click('text=Complete with its subtasks', 'main [role=status] .state:text("done")');
    expect([await statusOf(id), await statusOf(part)]).to.equal(['done', 'done']);
  });

  it(`notes one, and shows what changes elsewhere${unless}`, withChromium, async () => {
    const { page, open, click } = visitor;
    await open('/tasks');
    await isLive(page);
    await page.fill('form input', 'Water the plants');
    await page.keyboard.press('Enter');
    await click('text=Water the plants', 'h1:text("Task")');
    const id = new URL(page.url()).pathname.split('/')[2] ?? '';
    expect((await ask('GET', `/api/tasks/${id}`)).title).to.equal('Water the plants');
    await ask('PATCH', `/api/tasks/${id}`, { title: 'Water them twice' });
    await page.waitForSelector('text=Water them twice');
  });

  it(`delegates one, once that is asked${unless}`, withChromium, async () => {
    const { page, open, click } = visitor;
    const id = await note({ title: 'Write it up' });
    await open(`/tasks/${id}`);
    await page.click('text="Delegate"');
    expect((await ask('GET', `/api/tasks/${id}`)).assignee).to.equal('me');
    await click('text="Delegate it"', 'dd a:text("The agent and its transcript")');
    const { assignee } = await ask('GET', `/api/tasks/${id}`);
    expect(await page.getAttribute('dd a:text("The agent")', 'href')).to.equal(
      `/agents/${assignee}`,
    );
  });
});
