import Boom from '@hapi/boom';
import Hapi, { type Lifecycle, type Request, type ResponseToolkit, type Server } from '@hapi/hapi';
import type { Config } from '../config.js';
import type { AnonymousLimit } from '../kernel/anonymouslimit.js';
import { createBodies } from '../kernel/body.js';
import type { ProxyTrust } from '../kernel/clientaddress.js';
import type { Clock } from '../kernel/clock.js';
import type { Caller, Visit } from '../kernel/contract/endpoint.js';
import type { Log } from '../kernel/log.js';
import { holdsRanges, lengthOf } from '../kernel/ranges.js';
import { type Allowance, createRate, spentMessage } from '../kernel/rate.js';
import { RequestVisit } from '../kernel/requestcontext.js';
import { type Replays, type Resource, type RouteOptions, routesOf } from '../kernel/route.js';
import { scopeRefusal } from '../kernel/scope.js';
import { type FastPath, openFastPath } from './fastpath.js';
import { answerRefusals, createListener, requireHost } from './listener.js';
import { logReply, type ProblemDeps, problemOf, requestIdOf } from './replies.js';

declare module '@hapi/hapi' {
  interface RequestApplicationState {
    /** What the asker has left of this minute, where requests are counted. */
    allowance?: Allowance;
  }
}

const BODY_BYTES = 1024 * 1024;
/** Of all bodies together that nobody has verified yet. */
const UNVERIFIED_BYTES = 64 * 1024 * 1024;
/** Probes are to be let in always, and the receivers have caps of their own. */
const UNCOUNTED = /^(health|receivers)\./;

export interface ServerDeps extends ProblemDeps {
  config: Config;
  clock: Clock;
  /** Who a token belongs to, looked up anew on every request; null = nobody. */
  identify(token: string): Promise<Omit<Caller, keyof Visit> | null>;
  replays: Replays;
  /** Whose word is taken for the address of a client, as it is now. */
  trust(): ProxyTrust;
  anonymousLimit: AnonymousLimit;
  mintRequestId(): string;
}

/** The hapi server: who may, what an error looks like, how much is too much. It knows no resource. */
export const createServer = (deps: ServerDeps, checkedReplies: number): Server => {
  const { config } = deps;
  const server = Hapi.server({
    host: config.host,
    port: config.port,
    listener: createListener(),
    debug: false,
    router: { stripTrailingSlash: true },
    routes: {
      cors: corsOf(config.origins),
      state: { parse: false, failAction: 'ignore' },
      payload: { maxBytes: BODY_BYTES, failAction: refuseBody },
      validate: {
        failAction: rethrow,
        options: { abortEarly: false, errors: { label: false }, messages: withoutValues },
      },
      response: { failAction: rethrow, sample: checkedReplies },
      security: { hsts: false, referrer: 'no-referrer', xss: 'disabled' },
    },
  });
  attachVisit(server, deps);
  const limits = createLimits(deps);
  authenticate(server, deps, limits);
  const ending = { ...deps, limits };
  server.ext('onPreResponse', (request, h) => finish(request, h, ending));
  logResponses(server, deps.log);
  return server;
};

/** As joi has it but for the value, which somebody may have pasted into the wrong field. */
const withoutValues = {
  'string.pattern.base': 'fails to match the required pattern: {{#regex}}',
  'string.pattern.name': 'fails to match the {{#name}} pattern',
};

/** What is to be known of all replies beside how they are made. */
export interface ResourcesOptions extends Omit<RouteOptions, 'bodies'> {
  /** Told of each reply, with the method in lower case. */
  answered(method: string, status: number): void;
}

/** Routes them; the receivers also get the fast path, which goes before hapi. */
export const addResources = (
  server: Server,
  resources: Resource[],
  { deps, options }: { deps: ServerDeps; options: ResourcesOptions },
): FastPath => {
  const bodies = createBodies(UNVERIFIED_BYTES);
  for (const each of resources) server.route(routesOf(each, { ...options, bodies }));
  server.events.on('response', (request) => options.answered(request.method, statusOf(request)));
  const receivers = resources.find(({ name }) => name === 'receivers');
  if (!receivers) throw new Error('There is no resource receivers');
  const headers: Record<string, string> = deps.config.origins.length > 0 ? { vary: 'origin' } : {};
  const path = openFastPath(server.listener, receivers, { ...deps, ...options, bodies, headers });
  answerRefusals(server.listener, deps);
  return path;
};

const statusOf = ({ response }: Request): number =>
  'statusCode' in response ? response.statusCode : response.output.statusCode;

const OWN_HEADERS = [
  'x-request-id',
  'retry-after',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
];

const corsOf = (origin: string[]) =>
  origin.length > 0 && {
    origin,
    additionalHeaders: ['Idempotency-Key', 'X-Request-Id'],
    additionalExposedHeaders: OWN_HEADERS,
  };

/** hapi hides what joi found unless its error is thrown on. */
const rethrow: Lifecycle.Method = (_request, _h, error) => {
  throw error ?? new Error('Validation failed');
};

/** hapi calls a type that it cannot read a bad request. */
const refuseBody: Lifecycle.Method = (request, _h, error) => {
  if (error?.message.includes('content-type')) {
    throw Boom.unsupportedMediaType(
      `Send application/json, not ${request.headers['content-type']}`,
    );
  }
  throw error ?? Boom.badRequest();
};

const attachVisit = (server: Server, deps: ServerDeps): void => {
  server.ext('onRequest', (request, h) => {
    const requestId = requestIdOf(request.headers['x-request-id'], deps.mintRequestId);
    request.app.visit = new RequestVisit(request, requestId, deps.trust());
    requireHost(request.raw.req);
    return h.continue;
  });
};

interface RateLimits {
  /** Count a request of a user, or of an address that shows no valid token. 429 with Retry-After. */
  user(request: Request, userId: string): void;
  stranger(request: Request): void;
}

const createLimits = ({ config, clock, anonymousLimit }: ServerDeps): RateLimits => {
  const perUser = createRate(config.ratePerUser, clock);
  const count = (request: Request, take: () => Allowance | null): void => {
    if (UNCOUNTED.test(request.route.settings.id ?? '')) return;
    const allowance = take();
    request.app.allowance = allowance ?? request.app.allowance;
    if (!allowance?.isSpent) return;
    throw Boom.tooManyRequests(spentMessage(allowance), {
      code: 'rate_limited',
      retryAfter: allowance.resetSeconds,
    });
  };
  return {
    user: (request, userId) => count(request, () => perUser.take(userId)),
    stranger: (request) => {
      const { headers, info } = request;
      count(request, () => anonymousLimit.take(info.remoteAddress ?? '', headers));
    },
  };
};

const authenticate = (server: Server, { identify }: ServerDeps, limits: RateLimits): void => {
  server.auth.scheme('bearer', () => ({
    authenticate: async (request, h) => {
      const token = /^Bearer +(\S+)$/i.exec(String(request.headers.authorization ?? ''))?.[1];
      const who = token === undefined ? null : await identify(token);
      if (!who) {
        limits.stranger(request);
        throw Boom.unauthorized('Log in first: no valid token', 'Bearer');
      }
      limits.user(request, who.userId);
      const caller: Caller = Object.assign(request.app.visit, who);
      const credentials = { user: who.userId, app: { caller }, scope: [who.role] };
      const endpoint = request.route.settings.app?.endpoint?.();
      const refusal = endpoint && scopeRefusal(caller, endpoint);
      if (!refusal) return h.authenticated({ credentials });
      const { message, code } = refusal;
      return h.unauthenticated(Boom.forbidden(message, { code }), { credentials });
    },
  }));
  server.auth.strategy('jwt', 'bearer');
  server.auth.default('jwt');
  server.ext('onPreAuth', (request, h) => {
    // hapi's types leave out that a public route has `false` here.
    if (Object.is(request.route.settings.auth, false)) limits.stranger(request);
    return h.continue;
  });
};

/** Every reply carries its request's id, and every error has the one body. */
const finish = (
  request: Request,
  h: ResponseToolkit,
  deps: ServerDeps & { limits: RateLimits },
) => {
  const response = rangeRefusal(request) ?? answerTo(request, deps.limits);
  const requestId = request.app.visit?.requestId ?? deps.mintRequestId();
  const isSecret = request.route.settings.app?.endpoint?.().secret === true;
  const headers = {
    'x-request-id': requestId,
    ...allowanceHeaders(request.app.allowance),
    ...(isSecret && { 'cache-control': 'no-store' }),
  };
  if (!('isBoom' in response)) {
    for (const [name, value] of Object.entries(headers)) response.header(name, value);
    return h.continue;
  }
  const boom = problemOf(response, { requestId, path: request.path }, deps);
  Object.assign(boom.output.headers, headers);
  if (boom !== request.response) throw boom;
  return h.continue;
};

/** hapi refuses a range that a reply does not hold while it sends, past the one error body. */
const rangeRefusal = ({ headers: { range }, method, response }: Request): Boom.Boom | null => {
  if (typeof range !== 'string' || method !== 'get' || 'isBoom' in response) return null;
  const length = response.statusCode === 200 ? lengthOf(response) : 0;
  if (length === 0 || holdsRanges(range, length)) return null;
  const refusal = Boom.rangeNotSatisfiable(`The reply holds ${length} bytes, and not that range`);
  refusal.output.headers['content-range'] = `bytes */${length}`;
  return refusal;
};

/** To a path that nothing is on hapi answers at once; so that is counted here. */
const answerTo = (request: Request, limits: RateLimits): Request['response'] => {
  const { response, route } = request;
  if (!('isBoom' in response) || String(route.method) !== '_special') return response;
  try {
    limits.stranger(request);
    return response;
  } catch (error) {
    if (Boom.isBoom(error)) return error;
    throw error;
  }
};

const allowanceHeaders = (allowance: Allowance | undefined): Record<string, string> =>
  allowance
    ? {
        'ratelimit-limit': String(allowance.limit),
        'ratelimit-remaining': String(allowance.remaining),
        'ratelimit-reset': String(allowance.resetSeconds),
      }
    : {};

const logResponses = (server: Server, log: Log): void => {
  server.events.on('response', (request) => {
    if (isReading(request)) return;
    const { app, auth, info, method, path } = request;
    const status = statusOf(request);
    logReply(log, method === 'get' || isInbound(request), status, () => ({
      requestId: app.visit?.requestId,
      ...{ method, path, status, ms: info.responded - info.received },
      userId: auth.credentials?.app?.caller.userId,
    }));
  });
};

/** To read the log is no line of it: who follows it would follow himself. */
const isReading = (request: Request): boolean => request.route.settings.id === 'logs.list';

const isInbound = (request: Request): boolean =>
  request.route.settings.id?.startsWith('receivers.') === true;
