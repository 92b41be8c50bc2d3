import { readFile } from 'node:fs/promises';
import type { Server } from '@hapi/hapi';
import type { WebPage } from '../kernel/webpage.js';

/** Headers that allow only the daemon's own files, no frames and no form targets. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-cache',
};

const stylesheet = (): URL => new URL('./pages.css', import.meta.url);

export const addPages = (server: Server, pages: WebPage[]): void => {
  for (const { path, html, scripts } of pages) {
    addFile(server, { path, type: 'text/html', at: html });
    addFile(server, { path: `${path}/page.css`, type: 'text/css', at: stylesheet });
    for (const [name, at] of Object.entries(scripts)) {
      addFile(server, { path: `${path}/${name}`, type: 'text/javascript', at });
    }
  }
};

/** Adds a file, which is read when it is first requested, and then kept. */
const addFile = (server: Server, file: { path: string; type: string; at(): URL }): void => {
  const { path, type, at } = file;
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
};
