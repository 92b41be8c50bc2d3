import { readFile } from 'node:fs/promises';
import Boom from '@hapi/boom';
import type { Lifecycle, Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import type { Config } from '../config.js';
import { pagePaths } from '../kernel/pagepath.js';
import type { RouteGroup } from './lazyroutes.js';

const fileAt = (name: string): URL => new URL(name, FOLDER);
const FOLDER = new URL('../../web/', import.meta.url);

/** Its path decides its scope: this whole origin. */
const WORKER = '/sw.js';
const TYPES: Record<string, string> = {
  css: 'text/css',
  html: 'text/html',
  js: 'text/javascript',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  webmanifest: 'application/manifest+json',
};

const DIGESTED = /-[\w-]{8}\.(js|css)$/;
const FILE = /^[\w-]+\.(css|js|png|svg|txt|webmanifest)$/;
const UNCHANGING = 'public, max-age=31536000, immutable';

/**
 * Only files of this daemon; no inline scripts or styles, frames or form targets (W3C CSP 3,
 * Trusted Types).
 */
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types adjutant',
].join('; ');
const HEADERS = {
  'content-security-policy': CSP,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
};

/** Same document at each path. With the setting `local`, only for browsers on this machine. */
export const browserPageRoutes = (setting: Config['page']): RouteGroup[] => {
  if (setting === 'off') return [];
  const paths = [...Object.values(pagePaths), '/page/{file}', WORKER];
  const serve =
    (nameOf: (file: string) => string): Lifecycle.Method =>
    async ({ app, params, path }, h) => {
      const name = nameOf(String(params.file ?? ''));
      const isHidden = setting === 'local' && !app.context.isLocal;
      const content = isHidden ? null : await readPageFile(name);
      if (!content) throw Boom.notFound(`Page not found: ${path}`);
      return withHeaders(h.response(content), name);
    };
  const route = (path: string, handler: Lifecycle.Method): ServerRoute => ({
    method: 'GET',
    path,
    options: { auth: false },
    handler,
  });
  return [
    {
      paths,
      routes: () => [
        ...Object.values(pagePaths).map((path) =>
          route(
            path,
            serve(() => 'index.html'),
          ),
        ),
        route(
          '/page/{file}',
          serve((file) => (FILE.test(file) ? file : '')),
        ),
        route(
          WORKER,
          serve(() => 'sw.js'),
        ),
      ],
    },
  ];
};

/** Paths for programs, whose errors are always JSON. */
const OF_PROGRAMS = /^\/(api|health|metrics|page|swagger|ws)(\/|$)/;

/**
 * Shows the page with status 404 to browsers at unknown paths. Null for other requests, and if the
 * page is off.
 */
export const notFoundPage = async (
  { app, headers, method, path, route }: Request,
  h: ResponseToolkit,
  setting: Config['page'],
): Promise<ResponseObject | null> => {
  const isNavigation = method === 'get' && String(headers.accept).includes('text/html');
  if (!isNavigation || String(route.method) !== '_special' || OF_PROGRAMS.test(path)) return null;
  if (setting === 'off' || (setting === 'local' && app.context?.isLocal !== true)) return null;
  const content = await readPageFile('index.html');
  return content && withHeaders(h.response(content).code(404), 'index.html');
};

const readPageFile = async (name: string): Promise<Buffer | null> => {
  try {
    return name === '' ? null : await readFile(fileAt(name));
  } catch {
    return null;
  }
};

const withHeaders = (response: ResponseObject, name: string): ResponseObject => {
  const extension = /\w+$/.exec(name)?.[0] ?? '';
  response.type(TYPES[extension] ?? 'application/octet-stream');
  response.header('cache-control', DIGESTED.test(name) ? UNCHANGING : 'no-cache');
  for (const [header, value] of Object.entries(HEADERS)) response.header(header, value);
  return response;
};
