import { readFile } from 'node:fs/promises';
import type { ServerRoute } from '@hapi/hapi';
import type { WebPage } from '../kernel/webpage.js';
import type { RouteGroup } from './lazyroutes.js';

/** Only the daemon's own files; no frames or form targets. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-cache',
};

const stylesheet = (): URL => new URL('./pages.css', import.meta.url);

export const routesOfPage = ({ path, html, scripts }: WebPage): RouteGroup => {
  const file = (name: string, type: string, at: () => URL): ServedFile => ({
    path: `${path}${name}`,
    type,
    at,
    headers: HEADERS,
  });
  return filesGroup([
    file('', 'text/html', html),
    file('/page.css', 'text/css', stylesheet),
    ...Object.entries(scripts).map(([name, at]) => file(`/${name}`, 'text/javascript', at)),
  ]);
};

export interface ServedFile {
  path: string;
  type: string;
  at(): URL | string;
  headers: Record<string, string>;
}

export const filesGroup = (files: ServedFile[]): RouteGroup => ({
  paths: files.map(({ path }) => path),
  routes: () => files.map(createFileRoute),
});

const createFileRoute = ({ path, type, at, headers }: ServedFile): ServerRoute => ({
  method: 'GET',
  path,
  options: { auth: false },
  handler: async (_request, h) => {
    const response = h.response(await readFile(at())).type(type);
    for (const [name, value] of Object.entries(headers)) response.header(name, value);
    return response;
  },
});
