import { readFile } from 'node:fs/promises';
import type { Server } from '@hapi/hapi';

/** Nothing but the daemon's own files, in no other page, and no form that goes anywhere. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-cache',
};

const own = (name: string): URL => new URL(`./page/${name}`, import.meta.url);
/** The browser's half of the library, built for a page without modules. */
const library = (): URL =>
  new URL('../dist/bundle/index.umd.min.js', import.meta.resolve('@simplewebauthn/browser'));

const FILES = [
  { path: '/passkeys', type: 'text/html', at: () => own('page.html') },
  { path: '/passkeys/page.css', type: 'text/css', at: () => own('page.css') },
  { path: '/passkeys/page.js', type: 'text/javascript', at: () => own('page.js') },
  { path: '/passkeys/webauthn.js', type: 'text/javascript', at: library },
];

/** `/passkeys`: log in with a browser, add passkeys, and hand the login on to the command line. */
export const addPasskeyPage = (server: Server): void => {
  for (const { path, type, at } of FILES) {
    let text: Promise<string> | null = null;
    server.route({
      method: 'GET',
      path,
      options: { auth: false },
      handler: async (_request, h) => {
        text ??= readFile(at(), 'utf8');
        const response = h.response(await text).type(type);
        for (const [name, value] of Object.entries(HEADERS)) response.header(name, value);
        return response;
      },
    });
  }
};
