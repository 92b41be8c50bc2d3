import Boom from '@hapi/boom';
import type { Request, Server } from '@hapi/hapi';
import type { Config } from '../config.js';
import type { AnonymousLimit } from '../kernel/anonymouslimit.js';
import type { Clock } from '../kernel/clock.js';
import type { Caller, RequestContext } from '../kernel/contract/endpoint.js';
import { type Allowance, createRate, rateLimitMessage } from '../kernel/rate.js';
import { scopeRefusal } from '../kernel/scope.js';
import type { PageLogin } from './pagelogin.js';

declare module '@hapi/hapi' {
  interface RequestApplicationState {
    allowance?: Allowance;
  }
}

/** Health checks must always pass, and receivers have limits of their own. */
const UNCOUNTED = /^(?:health\.|receivers\.(?:byPath|incoming)$)/;

/** Per minute. A first synchronization sends thousands of requests. */
const REQUESTS_PER_PROVIDER = 6000;

export interface AccessDeps {
  /** Read on every request. Null if the token is invalid. */
  identify(token: string): Promise<Omit<Caller, keyof RequestContext> | null>;
  /** Returns the organization of a SCIM token. Null if the token is invalid. */
  identifyProvider(token: string): Promise<string | null>;
  pageLogin: PageLogin;
  anonymousLimit: AnonymousLimit;
}

export const createLimits = (
  { ratePerUser }: Pick<Config, 'ratePerUser'>,
  clock: Clock,
  anonymousLimit: AnonymousLimit,
) => {
  const perUser = createRate(ratePerUser, clock);
  const perProvider = createRate(REQUESTS_PER_PROVIDER, clock);
  const count = (request: Request, take: () => Allowance | null): void => {
    if (UNCOUNTED.test(request.route.settings.id ?? '')) return;
    const allowance = take();
    request.app.allowance = allowance ?? request.app.allowance;
    if (!allowance?.isSpent) return;
    throw Boom.tooManyRequests(rateLimitMessage(allowance), {
      code: 'rate_limited',
      retryAfter: allowance.resetSeconds,
    });
  };
  return {
    user: (request: Request, userId: string): void => count(request, () => perUser.take(userId)),
    provider: (request: Request, orgId: string): void =>
      count(request, () => perProvider.take(orgId)),
    anonymous: (request: Request): void => {
      const { headers, info } = request;
      count(request, () => anonymousLimit.take(info.remoteAddress ?? '', headers));
    },
  };
};

export type RateLimits = ReturnType<typeof createLimits>;

export const authenticate = (
  server: Server,
  { identify, identifyProvider, pageLogin }: AccessDeps,
  limits: RateLimits,
): void => {
  server.auth.scheme('bearer', () => ({
    authenticate: async (request, h) => {
      const { authorization } = request.headers;
      const cookie = authorization === undefined ? pageLogin.tokenOf(request) : undefined;
      const token = cookie ?? /^Bearer +(\S+)$/i.exec(String(authorization ?? ''))?.[1];
      const endpoint = request.route.settings.app?.endpoint?.();
      const providerOf = endpoint?.scim && token ? await identifyProvider(token) : null;
      if (providerOf !== null) {
        limits.provider(request, providerOf);
        Object.assign(request.app.context, { providerOf });
        return h.authenticated({ credentials: {} });
      }
      const who = token === undefined ? null : await identify(token);
      if (!who) {
        limits.anonymous(request);
        throw Boom.unauthorized('No valid token. Log in first', 'Bearer');
      }
      if (cookie !== undefined) pageLogin.requireSameUser(request, who.userId);
      limits.user(request, who.userId);
      const caller: Caller = Object.assign(request.app.context, who);
      const credentials = { user: who.userId, app: { caller }, scope: [who.role] };
      const refusal = endpoint && scopeRefusal(caller, endpoint);
      if (!refusal) return h.authenticated({ credentials });
      const { message, code } = refusal;
      return h.unauthenticated(Boom.forbidden(message, { code }), { credentials });
    },
  }));
  server.auth.strategy('jwt', 'bearer');
  server.auth.default('jwt');
  server.ext('onPreAuth', (request, h) => {
    pageLogin.requireSecure(request);
    // hapi's types do not include the value `false`, which a public route has here.
    if (Object.is(request.route.settings.auth, false)) limits.anonymous(request);
    return h.continue;
  });
};
