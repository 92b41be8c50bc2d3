import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Page } from 'playwright-core';
import { pagePaths } from '../../src/kernel/pagepath.js';
import { unless, withChromium } from '../accounts/passkeys/browser.js';
import { fillPage, type Visit } from './contents.js';
import { type Visitor, WIDTHS } from './stage.js';
import { openTalkStage, type TalkStage } from './talk.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('every view of the page', () => {
  let stage: TalkStage;
  let visits: Partial<Record<string, Visit>>;

  before(async () => {
    if (withChromium.skip) return;
    stage = await openTalkStage();
    visits = await fillPage(stage);
  });

  after(() => stage?.stop());

  for (const { where, viewport } of WIDTHS) {
    describe(where, () => {
      let visitor: Visitor;
      let anybody: Visitor;

      before(async () => {
        if (withChromium.skip) return;
        visitor = await stage.enter('ada', viewport);
        anybody = await stage.visit(viewport);
      });

      for (const place of Object.keys(pagePaths)) {
        it(`${place}: loads, fits, and breaks no rule of axe${unless}`, withChromium, async () => {
          const { page, open, violations, complaints } = place === 'login' ? anybody : visitor;
          const visit = visits[place];
          if (!visit) throw new Error(`Nothing is made for ${place} in contents.ts`);
          await open(visit.path, `main:has-text(${JSON.stringify(visit.shows)})`);
          await page.waitForSelector('[role=status]:text-matches("…$")', { state: 'detached' });
          expect({
            path: new URL(page.url()).pathname,
            headings: await page.locator('h1').count(),
            failures: await page.locator('[role=alert]').allTextContents(),
            protruding: await page.evaluate(PROTRUDING),
            torn: await page.evaluate(TORN),
            small: await page.evaluate(SMALL),
            light: await violations(),
            dark: await inDark(page, violations),
            complaints,
          }).to.equal({
            ...{ path: visit.path.split('?')[0], headings: 1, failures: [] },
            ...{ protruding: [], torn: [], small: [], light: [], dark: [], complaints: [] },
          });
        });
      }
    });
  }
});

/** Colours with low contrast in the dark scheme. */
const inDark = async (page: Page, violations: Visitor['violations']): Promise<string[]> => {
  await page.emulateMedia({ colorScheme: 'dark' });
  const found = await violations(['color-contrast']);
  await page.emulateMedia({ colorScheme: 'light' });
  return found;
};

/** Elements beyond the right edge of the window. */
const PROTRUDING = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) return ['the page scrolls sideways: ' + scrollWidth];
  return [...document.querySelectorAll('main *, header *')]
    .filter((each) => each.getBoundingClientRect().right > clientWidth + 1)
    .map((each) => each.outerHTML.slice(0, 200));
})()`;

/** Words of buttons, navigation links and terms that are broken over two lines. */
const TORN = `[...document.querySelectorAll('button, nav a, .brand, .state, .kind, label, h2, h3, dt')]
  .flatMap((each) => [...each.childNodes].filter((node) => /^\\s*\\S{1,20}\\s*$/.test(node.data ?? '')))
  .filter((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1;
  })
  .map((node) => node.data)`;

/** Buttons, fields and navigation links below 44 pixels of height. */
const SMALL = `[...document.querySelectorAll('button, input, select, textarea, summary, nav a')]
  .map((each) => each.matches('[type=radio], [type=checkbox]') ? each.closest('label') ?? each : each)
  .filter((each) => each.checkVisibility() && each.getBoundingClientRect().height < 43.9)
  .map((each) => each.getBoundingClientRect().height + ' ' + each.outerHTML.slice(0, 200))`;
