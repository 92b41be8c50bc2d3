import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { unless, withChromium } from '../accounts/passkeys/browser.js';
import { until } from '../harness/app.js';
import { waitingOperation } from '../harness/operation.js';
import { isLive, openPageStage, type PageStage, type Visitor, WIDTHS } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

for (const { where, viewport } of WIDTHS) {
  describe(`operations on the page, ${where}`, () => {
    let stage: PageStage;
    let ada: { id: string; token: string };
    let visitor: Visitor;

    before(async () => {
      if (withChromium.skip) return;
      stage = await openPageStage();
      ada = await stage.app.register('ada');
      visitor = await stage.enter('ada', viewport);
    });

    after(() => stage?.stop());

    const operation = async (id: string) =>
      (await stage.app.call('GET', `/api/operations/${id}`, { token: ada.token })).body;

    it(
      `shows how far one is, and cancels it by keyboard alone${unless}`,
      withChromium,
      async () => {
        const { page, open, tabTo, violations, complaints, press } = visitor;
        await open('/operations', 'text=No operations yet');
        await isLive(page);
        const id = await waitingOperation(stage.app, ada.id);
        await page.waitForSelector('.card progress[value="1"][max="2"]');
        expect(await page.textContent('.card'))
          .to.include('50 %')
          .and.to.include('1 of 2 steps');
        expect(await violations()).to.equal([]);
        await tabTo(`a[href="/operations/${id}"]`, 'Enter');
        await page.waitForSelector('section[aria-label=Cancel]');
        expect(await violations()).to.equal([]);
        await tabTo('section[aria-label=Cancel] button', 'Enter');
        expect((await operation(id)).status).to.equal('running');
        await page.waitForSelector('[role=group] button.danger:focus');
        await press('Enter', '.state:text("cancelled")');
        await page.waitForSelector('h1:focus');
        expect((await operation(id)).status).to.equal('cancelled');
        expect(await page.locator('progress, section[aria-label=Cancel]').count()).to.equal(0);
        expect(await violations()).to.equal([]);
        expect(complaints).to.equal([]);
      },
    );

    it(`shows the end of one that was ended elsewhere${unless}`, withChromium, async () => {
      await stage.app.restart();
      stage.app.url = stage.app.url.replace('127.0.0.1', 'localhost');
      const { page, open } = await stage.enter('ada', viewport);
      const id = await waitingOperation(stage.app, ada.id);
      await until(
        () => operation(id),
        ({ progress }) => progress?.done === 1,
      );
      await open(`/operations/${id}`, '.state:text("running")');
      await isLive(page);
      const path = `/api/operations/${id}/cancel`;
      await stage.app.call('POST', path, { token: ada.token });
      await page.waitForSelector('.state:text("cancelled")');
    });
  });
}
