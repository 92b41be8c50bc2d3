import type { WebPage } from '../../kernel/webpage.js';

const own = (name: string): URL => new URL(`./page/${name}`, import.meta.url);
/** The browser part of the library, built for a page without modules. */
const library = (): URL =>
  new URL('../dist/bundle/index.umd.min.js', import.meta.resolve('@simplewebauthn/browser'));

export const passkeysPage: WebPage = {
  path: '/passkeys',
  html: () => own('page.html'),
  scripts: { 'page.js': () => own('page.js'), 'webauthn.js': library },
};
