import type { IncomingHttpHeaders } from 'node:http';
import Boom from '@hapi/boom';
import type { Request } from '@hapi/hapi';
import type { Config } from '../config.js';
import { isLoopbackName } from '../kernel/clientaddress.js';
import type { Clock } from '../kernel/clock.js';
import { isOwnOrigin, isSecureOrigin } from './origin.js';
import { openSealed, PAGE_KEY, sealToken } from './sealedcookie.js';

/**
 * Header of every request of the page, which no form and no other origin can send: the key of its
 * login, or `1` before one.
 */
const PAGE = 'x-adjutant-page';
/** Id of the user whom the page shows, in every request of it that changes something. */
const USER = 'x-adjutant-user';
/** RFC 6265bis, section 4.1.3: only the host itself sets it, over TLS and for all its paths. */
const SECURE_NAME = '__Host-adjutant';
const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict';

export interface PageLoginDeps {
  page: Config['page'];
  clock: Clock;
  /** Returns the address at which others reach the daemon. */
  publicUrl(): string | null;
}

/** A login of the page: the endpoints that begin and end it have `session` in their contract. */
export interface PageLogin {
  /** Returns the token in the cookie if the request is the page's, with its key; undefined otherwise. */
  tokenOf(request: Request): string | undefined;
  /** Throws 401 if the page shows another user than the one whose cookie it sends now. */
  requireSameUser(request: Request, userId: string): void;
  /** Throws 400 if a login would begin at an origin whose cookies others can read. */
  requireSecure(request: Request): void;
  /**
   * Moves the token of a new login into the cookie, sealed, with its key in the reply in place of the
   * token. Empties the cookie at a logout.
   */
  finish(request: Request): void;
}

/**
 * Makes the login of the page. A cookie counts only with the header of the page and from the
 * daemon's own origin, so that no other site and no form can use it, and never where a route has
 * its own authentication. A browser sends no Origin with a GET to the same origin; there
 * `Sec-Fetch-Site` says it, and the header alone where a browser has neither, since a page of
 * another origin could not add it.
 */
export const createPageLogin = ({ page, clock, publicUrl }: PageLoginDeps): PageLogin => {
  const isPage = ({ raw, method, app }: Request): boolean => {
    const { headers } = raw.req;
    if (page === 'off' || !isPageHeader(headers[PAGE])) return false;
    if (page === 'local' && !app.context.isLocal) return false;
    if (headers.origin !== undefined) return isOwnOrigin(headers, publicUrl());
    const site = headers['sec-fetch-site'] ?? 'same-origin';
    return (method === 'get' || method === 'head') && site === 'same-origin';
  };
  return {
    tokenOf: (request) => (isPage(request) ? tokenIn(request.raw.req.headers) : undefined),
    requireSameUser: ({ headers, method }, userId) => {
      const shown = headers[USER] ?? (method === 'get' ? userId : undefined);
      if (shown === userId) return;
      throw new Boom.Boom('Another user has logged in in this browser. Reload the page', {
        statusCode: 401,
        data: { code: 'other_user' },
      });
    },
    requireSecure: (request) => {
      const { origin } = request.raw.req.headers;
      if (!begins(request) || !isPage(request) || !origin || isSecureOrigin(origin)) return;
      throw Boom.badRequest(
        'Login requires https, except on this machine. Open the page over https',
        { code: 'https_required' },
      );
    },
    finish: (request) => {
      const { response, route } = request;
      const session = route.settings.app?.endpoint?.().session;
      if (!session || 'isBoom' in response || !isPage(request)) return;
      const name = cookieName(request.raw.req.headers);
      if (session === 'ends') response.header('set-cookie', cookie(name, '', 0));
      const login: unknown = response.source;
      if (session !== 'begins' || !isLogin(login)) return;
      const seconds = Math.floor((Date.parse(login.expiresAt) - clock.now()) / 1000);
      const { sealed, key } = sealToken(login.token);
      response.header('set-cookie', cookie(name, sealed, seconds));
      login.token = key;
    },
  };
};

const begins = ({ route }: Request): boolean =>
  route.settings.app?.endpoint?.().session === 'begins';

interface NewLogin {
  token: string;
  expiresAt: string;
}

const isLogin = (reply: unknown): reply is NewLogin =>
  typeof reply === 'object' && reply !== null && 'token' in reply && 'expiresAt' in reply;

/**
 * Returns the name of the cookie. Cookies of this machine are shared among its ports, so that one
 * there has the port in its name.
 */
const cookieName = ({ origin, host = '' }: IncomingHttpHeaders): string =>
  isLoopbackName(host) && !origin?.startsWith('https:')
    ? `adjutant-${/:(\d+)$/.exec(host)?.[1] ?? 80}`
    : SECURE_NAME;

const cookie = (name: string, value: string, seconds: number): string =>
  `${name}=${value}; ${ATTRIBUTES}; Max-Age=${seconds}${name === SECURE_NAME ? '; Secure' : ''}`;

const isPageHeader = (value: string | string[] | undefined): boolean =>
  typeof value === 'string' && (value === '1' || PAGE_KEY.test(value));

/** Ours: more cookies of one name are not tried. */
const MAX_TRIED = 8;

/**
 * Returns the token in the cookie that the key of the page opens. Others of its names do not count: a
 * server at another port of this host, or at a sibling of it, may have set them.
 */
const tokenIn = (headers: IncomingHttpHeaders): string | undefined => {
  const key = headers[PAGE];
  const names = [SECURE_NAME, cookieName(headers)];
  const pairs = (headers.cookie ?? '').split(/; */).map((pair) => pair.split('='));
  const values = pairs.flatMap(([name = '', value]) => (names.includes(name) ? (value ?? []) : []));
  for (const value of values.slice(0, MAX_TRIED)) {
    const token = openSealed(value, typeof key === 'string' ? key : '');
    if (token !== undefined) return token;
  }
  return undefined;
};
