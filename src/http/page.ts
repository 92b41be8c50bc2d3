import { readFile } from 'node:fs/promises';
import Boom from '@hapi/boom';
import type { Lifecycle, Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import type { Config } from '../config.js';
import { pagePaths } from '../kernel/pagepath.js';
import type { RouteGroup } from './lazyroutes.js';

/** The files of the page, which the build writes (scripts/webbundle.js). */
const fileAt = (name: string): URL => new URL(name, FOLDER);
const FOLDER = new URL('../../web/', import.meta.url);

/** The service worker. Its path decides which pages it is for: all of this origin. */
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

/** Names with the digest of their content, which therefore never changes. */
const DIGESTED = /-[\w-]{8}\.(js|css)$/;
const FILE = /^[\w-]+\.(css|js|png|svg|txt|webmanifest)$/;
const UNCHANGING = 'public, max-age=31536000, immutable';

/**
 * Only files of this daemon, no inline script or style, no frames, no form targets, and no text
 * that becomes a script (W3C CSP 3, Trusted Types).
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

/**
 * Routes of the page: the same document at each of its paths, its files, and its service worker.
 * With the setting `local` they exist for browsers on this machine alone.
 */
export const routesOfBrowserPage = (setting: Config['page']): RouteGroup[] => {
  if (setting === 'off') return [];
  const paths = [...Object.values(pagePaths), '/page/{file}', WORKER];
  const serve =
    (nameOf: (file: string) => string): Lifecycle.Method =>
    async ({ app, params, path }, h) => {
      const name = nameOf(String(params.file ?? ''));
      const isHidden = setting === 'local' && !app.context.isLocal;
      const content = isHidden ? null : await contentOf(name);
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

/** Paths that programs ask for, whose errors are JSON whoever asks. */
const OF_PROGRAMS = /^\/(api|health|metrics|page|swagger|ws)(\/|$)/;

/**
 * Returns the page for a browser that was led to an address which does not exist: the page says so,
 * with the status 404. Null for every other request, and where the page is off.
 */
export const pageForNowhere = async (
  { app, headers, method, path, route }: Request,
  h: ResponseToolkit,
  setting: Config['page'],
): Promise<ResponseObject | null> => {
  const isNavigation = method === 'get' && String(headers.accept).includes('text/html');
  if (!isNavigation || String(route.method) !== '_special' || OF_PROGRAMS.test(path)) return null;
  if (setting === 'off' || (setting === 'local' && app.context?.isLocal !== true)) return null;
  const content = await contentOf('index.html');
  return content && withHeaders(h.response(content).code(404), 'index.html');
};

/** Returns the content of a file of the page; null if there is none of that name. */
const contentOf = async (name: string): Promise<Buffer | null> => {
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
