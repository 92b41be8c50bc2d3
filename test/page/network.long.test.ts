import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { unless, withChromium } from '../accounts/passkeys/browser.js';
import { AT_ONCE_MS, isLive, openPageStage, type PageStage } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** A wide screen, where each place is one click away. */
const WIDE = { width: 1280, height: 800 };

describe('the page without its daemon', () => {
  let stage: PageStage;

  before(async () => {
    if (withChromium.skip) return;
    stage = await openPageStage();
    await stage.app.register('ada');
  });

  after(() => stage?.stop());

  it(
    `says at once that the network is gone, and that it is back${unless}`,
    withChromium,
    async () => {
      const { page, context, open, violations, click } = await stage.enter('ada');
      await open('/device');
      await isLive(page);
      await context.setOffline(true);
      await page.waitForSelector('.bar >> text=offline', { timeout: AT_ONCE_MS });
      expect(await violations()).to.equal([]);
      await click('text=Log out on this device', 'text=The daemon cannot be reached');
      await context.setOffline(false);
      await page.waitForSelector('[data-live=online]', { state: 'attached', timeout: AT_ONCE_MS });
      await page.waitForSelector('text=The daemon cannot be reached', { state: 'detached' });
    },
  );

  it(
    `says that a view cannot be loaded offline, and loads it later${unless}`,
    withChromium,
    async () => {
      const { page, context, violations, click } = await stage.enter('ada', WIDE);
      await isLive(page);
      await context.setOffline(true);
      await click('nav >> text=Tasks', 'h1:text("Could not load")');
      await page.waitForSelector('text=This view could not be loaded: you are offline.');
      expect(await violations()).to.equal([]);
      await context.setOffline(false);
      await page.waitForSelector('h1:text("Tasks")');
    },
  );

  it(`says that the daemon is newer than the page${unless}`, withChromium, async () => {
    const { page, context, violations, click } = await stage.enter('ada', WIDE);
    await isLive(page);
    await context.route(/\/page\/(?!main).*\.js$/, (request) => request.fulfill({ status: 404 }));
    await click('nav >> text=Pipelines', 'text=Adjutant was updated. Reload the page.');
    expect(await violations()).to.equal([]);
    await context.unrouteAll();
    await click('button:text("Reload the page")', 'h1:text("Pipelines")');
  });

  it(
    `says that a wrong link leads nowhere, before and after the login${unless}`,
    withChromium,
    async () => {
      for (const { page, open, violations } of [await stage.visit(), await stage.enter('ada')]) {
        await open('/notifications/x');
        expect(await page.textContent('h1')).to.equal('Not found');
        expect(await violations()).to.equal([]);
        await page.click('main >> text=Home');
        await page.waitForSelector('h1:not(:text("Not found"))');
        expect(new URL(page.url()).pathname).to.equal('/');
      }
    },
  );
});
