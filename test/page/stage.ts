import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';
import { openBrowser, type Profiles } from '../accounts/passkeys/browser.js';
import { PASSWORD, startApp, type TestApp, type TestOptions } from '../harness/app.js';

/** A phone, upright. */
const PHONE = { width: 390, height: 844 };

/** Tested widths, each with the end of a test title. */
export const WIDTHS = [
  { where: 'on a phone', viewport: PHONE },
  { where: 'on a laptop', viewport: { width: 1280, height: 800 } },
] as const;

/** In milliseconds: less than the page takes to notice by itself, which probes its socket after 20 s. */
export const AT_ONCE_MS = 15_000;

/** Somebody in front of the page. */
export interface Visitor {
  page: Page;
  context: BrowserContext;
  /** Browser errors: script errors, refused files, failed requests. */
  complaints: string[];
  /** Shows a path of the page, and waits for an element of it. */
  open(path: string, selector?: string): Promise<void>;
  /** Clicks an element, and waits for another. */
  click(selector: string, shown: string): Promise<void>;
  /** Presses a key, and waits for an element. */
  press(key: string, shown: string): Promise<void>;
  /** Violated axe-core rules with their elements. Defaults to all rules. */
  violations(rules?: string[]): Promise<string[]>;
  /**
   * Presses Tab until the element has the focus, and then a key. Throws if it never gets the focus.
   */
  tabTo(selector: string, key?: string): Promise<void>;
}

export interface PageStage {
  app: TestApp;
  browser: Profiles;
  /** A new browser profile on a phone, not logged in. */
  visit(viewport?: { width: number; height: number }): Promise<Visitor>;
  /** The same, logged in with an existing account. */
  enter(username: string, viewport?: { width: number; height: number }): Promise<Visitor>;
  stop(): Promise<void>;
}

/** The daemon as `localhost`, and a browser, optionally another program. */
export const openPageStage = async (
  options: TestOptions = {},
  program?: string,
): Promise<PageStage> => openPageOf(await startApp(options), program);

/** The same for a running daemon. */
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

/** Logs in through the form. */
export const logInAs = async (page: Page, username: string): Promise<void> => {
  await page.fill('#username', username);
  await page.fill('#password', PASSWORD);
  await page.click('button[type=submit]');
  await page.waitForSelector('nav');
};

/** Resolves when the page receives events. */
export const isLive = async (page: Page): Promise<void> => {
  await page.waitForSelector('[data-live=online]', { state: 'attached' });
};

const axe = (): string =>
  readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Adds the page content and its complaints to the error of a wait. */
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
    // The page checks the login, which fails with 401 if nobody is logged in.
    const isAnswer = message.location().url.endsWith('/api/auth/me');
    if (/error|warning/.test(message.type()) && !isAnswer) complaints.push(message.text());
  });
  page.on('pageerror', (error) => void complaints.push(error.message));
  return {
    page,
    context,
    complaints,
    open: async (path, selector) => {
      await page.goto(`${app.url}${path}`);
      await page.waitForSelector('h1');
      if (selector !== undefined) await page.waitForSelector(selector);
    },
    click: async (selector, shown) => {
      await page.click(selector);
      await page.waitForSelector(shown);
    },
    press: async (key, shown) => {
      await page.keyboard.press(key);
      await page.waitForSelector(shown);
    },
    violations: async (rules) => {
      // Not with a script element, which the policy of the page refuses.
      if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe());
      const options = rules ? { runOnly: rules } : {};
      const found: unknown = await page.evaluate(
        `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, nodes }) =>
          id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | ')))`,
      );
      return Array.isArray(found) ? found.map(String) : ['axe did not run'];
    },
    tabTo: async (selector, key) => {
      for (let presses = 0; presses < 200; presses++) {
        const isThere = await page.evaluate(
          `document.activeElement?.matches(${JSON.stringify(selector)}) ?? false`,
        );
        if (isThere) return key === undefined ? undefined : page.keyboard.press(key);
        await page.keyboard.press('Tab');
      }
      throw new Error(`The focus never came to ${selector}`);
    },
  };
};
