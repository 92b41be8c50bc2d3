import type { WebPage } from '../../kernel/webpage.js';

const own = (name: string): URL => new URL(`./page/${name}`, import.meta.url);
/** Returns the browser part of the library, built for a page without modules. */
const library = (): URL =>
  new URL('../dist/bundle/index.umd.min.js', import.meta.resolve('@simplewebauthn/browser'));

/**
 * The page on which a user logs in with a browser, adds passkeys, and passes the login on to the
 * command line.
 */
export const passkeysPage: WebPage = {
  path: '/passkeys',
  html: () => own('page.html'),
  scripts: { 'page.js': () => own('page.js'), 'webauthn.js': library },
};
