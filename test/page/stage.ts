import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';
import { openBrowser, type Profiles } from '../accounts/passkeys/browser.js';
import { PASSWORD, startApp, type TestApp, type TestOptions } from '../harness/app.js';

/** A phone, upright. */
const PHONE = { width: 390, height: 844 };

/** The widths that the page is tested at, each with the end of a test's title. */
export const WIDTHS = [
  { where: 'on a phone', viewport: PHONE },
  { where: 'on a laptop', viewport: { width: 1280, height: 800 } },
] as const;

/** Somebody in front of the page. */
export interface Visitor {
  page: Page;
  context: BrowserContext;
  /** Complaints of the browser: errors of scripts, refused files, failed requests. */
  complaints: string[];
  /** Shows a path of the page, by its address. */
  open(path: string): Promise<void>;
  /** Rules of axe-core that the view breaks, with the elements; of all rules unless some are given. */
  violations(rules?: string[]): Promise<string[]>;
  /** Presses Tab until that element has the focus. Throws if it never gets it. */
  tabTo(selector: string): Promise<void>;
}

export interface PageStage {
  app: TestApp;
  browser: Profiles;
  /** A new browser profile on a phone, where nobody is logged in. */
  visit(viewport?: { width: number; height: number }): Promise<Visitor>;
  /** The same, logged in as that account, which exists. */
  enter(username: string, viewport?: { width: number; height: number }): Promise<Visitor>;
  stop(): Promise<void>;
}

/** The daemon under the name `localhost`, and a browser, of another program where one is named. */
export const openPageStage = async (
  options: TestOptions = {},
  program?: string,
): Promise<PageStage> => openPageOf(await startApp(options), program);

/** The same for a daemon that runs. */
export const openPageOf = async (app: TestApp, program?: string): Promise<PageStage> => {
  app.url = app.url.replace('127.0.0.1', 'localhost');
  const browser = await openBrowser(program);
  const visit: PageStage['visit'] = async (viewport = PHONE) => {
    const context = await browser.newContext({ viewport, reducedMotion: 'reduce' });
    return visitorOf(app, context);
  };
  return {
    app,
    browser,
    visit,
    enter: async (username, viewport) => {
      const visitor = await visit(viewport);
      await visitor.open('/');
      await logInAs(visitor.page, username);
      return visitor;
    },
    stop: async () => {
      await browser.close();
      await app.stop();
    },
  };
};

/** Logs in by the form, as a person does. */
export const logInAs = async (page: Page, username: string): Promise<void> => {
  await page.fill('#username', username);
  await page.fill('#password', PASSWORD);
  await page.click('button[type=submit]');
  await page.waitForSelector('nav');
};

/** Resolves when the page hears events. */
export const isLive = async (page: Page): Promise<void> => {
  await page.waitForSelector('[data-live=online]', { state: 'attached' });
};

const axe = (): string =>
  readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Adds to the error of a wait what the page shows instead, and its complaints. */
const withReasons = (page: Page, complaints: string[]): Page => {
  const wait = page.waitForSelector.bind(page);
  const explained = async (...given: Parameters<typeof wait>) => {
    try {
      return await wait(...given);
    } catch (error) {
      const shown = await page.textContent('body').catch(String);
      throw new Error(`${error}\nShown: ${shown}\nComplaints: ${complaints.join('\n')}`);
    }
  };
  return Object.assign(page, { waitForSelector: explained });
};

const visitorOf = async (app: TestApp, context: BrowserContext): Promise<Visitor> => {
  const complaints: string[] = [];
  const page = withReasons(await context.newPage(), complaints);
  page.on('console', (message) => {
    // Whether somebody is logged in is asked, and 401 is the answer where nobody is.
    const isAnswer = message.location().url.endsWith('/api/auth/me');
    if (/error|warning/.test(message.type()) && !isAnswer) complaints.push(message.text());
  });
  page.on('pageerror', (error) => void complaints.push(error.message));
  return {
    page,
    context,
    complaints,
    open: async (path) => {
      await page.goto(`${app.url}${path}`);
      await page.waitForSelector('h1');
    },
    violations: async (rules) => {
      // Not by a script element, which the policy of the page refuses.
      if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe());
      const options = rules ? { runOnly: rules } : {};
      const found: unknown = await page.evaluate(
        `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, nodes }) =>
          id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | ')))`,
      );
      return Array.isArray(found) ? found.map(String) : ['axe did not run'];
    },
    tabTo: async (selector) => {
      for (let presses = 0; presses < 200; presses++) {
        const isThere = await page.evaluate(
          `document.activeElement?.matches(${JSON.stringify(selector)}) ?? false`,
        );
        if (isThere) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`The focus never came to ${selector}`);
    },
  };
};
