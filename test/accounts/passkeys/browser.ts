import { existsSync } from 'node:fs';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  chromium,
  type Page,
} from 'playwright-core';
import { PASSWORD } from '../../harness/app.js';

/** Chromium without windows. It shows no notifications. */
const PROGRAM = '/usr/bin/chromium-headless-shell';

/** The whole program, for tests of notifications, which the other one denies. */
export const FULL_PROGRAM = '/usr/bin/chromium';

/** In milliseconds. They end what hangs. A busy machine takes many times as long as an idle one. */
const WAIT_LIMIT_MS = 120_000;

/** Options for a test that needs Chromium, and the end of its title. */
export const withChromium = { skip: !existsSync(PROGRAM) };
export const unless = withChromium.skip ? ` (${PROGRAM} is not installed)` : '';

/** The same for a test that needs the whole program. */
export const withFullChromium = { skip: !existsSync(FULL_PROGRAM) };
export const unlessFull = withFullChromium.skip ? ` (${FULL_PROGRAM} is not installed)` : '';

/** A host that is not this machine by its name, and leads to it. */
export const FOREIGN_HOST = 'adjutant.test';

/** Profiles that share nothing with those of other tests. */
export interface Profiles {
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** Closes the profiles that were opened here. */
  close(): Promise<void>;
}

/** The running browsers, by their programs. */
const running = new Map<string, Promise<Browser>>();

/** Opens profiles in the browser of this process, one for each program, which ends with the process. */
export const openBrowser = async (program = PROGRAM): Promise<Profiles> => {
  if (!(await running.get(program))?.isConnected()) running.set(program, launchBrowser(program));
  const browser = await running.get(program);
  if (!browser) throw new Error('The browser did not start');
  const contexts: BrowserContext[] = [];
  return {
    newContext: async (options) => {
      const context = await browser.newContext(options);
      context.setDefaultTimeout(WAIT_LIMIT_MS);
      contexts.push(context);
      return context;
    },
    close: async () => {
      await Promise.all(contexts.map((context) => context.close()));
    },
  };
};

/** Root has no sandbox; an interrupt that a test sends is not meant for the browser. */
const launchBrowser = (executablePath: string): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: ['--no-sandbox', `--host-resolver-rules=MAP ${FOREIGN_HOST} 127.0.0.1`],
    handleSIGINT: false,
  });

/** Somebody in front of a browser that has a fingerprint reader. */
export interface Person {
  page: Page;
  /** Whatever an expression gives in the page, awaited. */
  evaluate(expression: string): Promise<unknown>;
  /** What this person's browser answers to options for a login. */
  answer(options: unknown): Promise<unknown>;
  /** Whether the reader knows the finger. */
  setVerified(isUserVerified: boolean): Promise<void>;
  /** Puts the counter of every passkey to a number. */
  setCounters(signCount: number): Promise<void>;
}

export const openPerson = async (browser: Profiles, url: string): Promise<Person> => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable', { enableUI: false });
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const evaluate = evaluator(cdp);
  await page.goto(`${url}/passkeys`);
  return {
    page,
    evaluate,
    answer: (options) =>
      evaluate(
        `SimpleWebAuthnBrowser.startAuthentication({ optionsJSON: ${JSON.stringify(options)} })`,
      ),
    setVerified: async (isUserVerified) => {
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    },
    setCounters: async (signCount) => {
      const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId });
      await cdp.send('WebAuthn.clearCredentials', { authenticatorId });
      for (const credential of credentials) {
        await cdp.send('WebAuthn.addCredential', {
          authenticatorId,
          credential: { ...credential, signCount },
        });
      }
    },
  };
};

const evaluator =
  (cdp: CDPSession) =>
  async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await cdp.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
      userGesture: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description);
    return result.value;
  };

/** Logs in with the password and adds a passkey, as a person does. */
export const addPasskey = async ({ page }: Person, username: string): Promise<void> => {
  await page.fill('#username', username);
  await page.fill('#password', PASSWORD);
  await page.click('text=Log in with the password');
  await page.fill('#name', `Laptop of ${username}`);
  await page.click('text=Add a passkey');
  await page.waitForSelector(`text=Added: Laptop of ${username}`);
};
