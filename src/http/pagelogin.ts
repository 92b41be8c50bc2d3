import type { IncomingHttpHeaders } from 'node:http';
import Boom from '@hapi/boom';
import type { Request } from '@hapi/hapi';
import type { Config } from '../config.js';
import { isLoopbackName } from '../kernel/clientaddress.js';
import type { Clock } from '../kernel/clock.js';
import { isOwnOrigin, isSecureOrigin } from './origin.js';
import { openSealed, PAGE_KEY, sealToken } from './sealedcookie.js';

/**
 * Sent by the page only, not by forms or other origins: the key of its login, or `1` before one.
 */
const PAGE = 'x-adjutant-page';
const USER = 'x-adjutant-user';
/** RFC 6265bis, section 4.1.3: only the host itself sets it, over TLS and for all its paths. */
const SECURE_NAME = '__Host-adjutant';
const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict';

export interface PageLoginDeps {
  page: Config['page'];
  clock: Clock;
  publicUrl(): string | null;
}

export interface PageLogin {
  tokenOf(request: Request): string | undefined;
  /** Throws 401 if the page shows another user than the cookie's. */
  requireSameUser(request: Request, userId: string): void;
  /** Throws 400 if others could read cookies of the origin. */
  requireSecure(request: Request): void;
  /**
   * Moves the token into a sealed cookie and returns its key instead. Clears the cookie at logout.
   */
  finish(request: Request): void;
}

/**
 * A cookie counts only with the page's header and from the daemon's own origin, so that other sites
 * and forms cannot use it. Browsers send no Origin with a GET to the same origin; `Sec-Fetch-Site`
 * replaces it, or the header alone, which other origins cannot add.
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
      throw new Boom.Boom('Another user has logged in with this browser. Reload the page', {
        statusCode: 401,
        data: { code: 'other_user' },
      });
    },
    requireSecure: (request) => {
      const { origin } = request.raw.req.headers;
      if (!begins(request) || !isPage(request) || !origin || isSecureOrigin(origin)) return;
      throw Boom.badRequest(
        'Login requires https, except on the machine of the daemon. Open the page over https',
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

/** Ports of one machine share cookies, so local cookies contain the port in their name. */
const cookieName = ({ origin, host = '' }: IncomingHttpHeaders): string =>
  isLoopbackName(host) && !origin?.startsWith('https:')
    ? `adjutant-${/:(\d+)$/.exec(host)?.[1] ?? 80}`
    : SECURE_NAME;

const cookie = (name: string, value: string, seconds: number): string =>
  `${name}=${value}; ${ATTRIBUTES}; Max-Age=${seconds}${name === SECURE_NAME ? '; Secure' : ''}`;

const isPageHeader = (value: string | string[] | undefined): boolean =>
  typeof value === 'string' && (value === '1' || PAGE_KEY.test(value));

const MAX_TRIED = 8;

/** Other cookies of that name may come from another port of this host, or a sibling host. */
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
