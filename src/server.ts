import http from 'node:http';
import Boom from '@hapi/boom';
import Hapi, { type Lifecycle, type Request, type ResponseToolkit, type Server } from '@hapi/hapi';
import Joi from 'joi';
import type { Config } from './config.js';
import { createBodies } from './kernel/body.js';
import type { Clock } from './kernel/clock.js';
import type { Caller, Visit } from './kernel/endpoint.js';
import type { Log } from './kernel/log.js';
import type { Trust } from './kernel/peer.js';
import type { ProblemData } from './kernel/problem.js';
import { type Allowance, createRate, networkOf } from './kernel/rate.js';
import { type Replays, type Resource, type RouteOptions, routesOf } from './kernel/route.js';
import { refusalOf } from './kernel/scope.js';
import { RequestVisit } from './kernel/visit.js';

declare module '@hapi/hapi' {
  interface RequestApplicationState {
    /** What the asker has left of this minute, where requests are counted. */
    allowance?: Allowance;
  }
}

const HEADERS_MS = 10_000;
const REQUEST_MS = 15_000;
const BODY_BYTES = 1024 * 1024;
/** Of all bodies together that nobody has verified yet. */
const UNVERIFIED_BYTES = 64 * 1024 * 1024;
const SANE_ID = /^[\w.:-]{1,64}$/;
/** Probes are to be let in always, and the receivers have caps of their own. */
const UNCOUNTED = /^(health|receivers)\./;

export interface ServerDeps {
  config: Config;
  clock: Clock;
  log: Log;
  /** Who a token belongs to, looked up anew on every request; null = nobody. */
  identify(token: string): Promise<Omit<Caller, keyof Visit> | null>;
  replays: Replays;
  /** Whose word is taken for the address of a client, as it is now. */
  trust(): Trust;
  mintRequestId(): string;
  /** Errors of the floors below that mean something to a client. */
  translate(error: Error): Boom.Boom | null;
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
        options: { abortEarly: false, errors: { label: false } },
      },
      response: { failAction: rethrow, sample: checkedReplies },
      security: { hsts: false, referrer: 'no-referrer', xss: 'disabled' },
    },
  });
  greet(server, deps);
  const limits = createLimits(deps);
  authenticate(server, deps, limits);
  const ending = { ...deps, limits };
  server.ext('onPreResponse', (request, h) => finish(request, h, ending));
  logResponses(server, deps.log);
  return server;
};

export const addResources = (
  server: Server,
  resources: Resource[],
  options: Omit<RouteOptions, 'bodies'>,
): void => {
  const bodies = createBodies(UNVERIFIED_BYTES);
  for (const each of resources) server.route(routesOf(each, { ...options, bodies }));
};

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

/** hapi's own payload timeout never fires on a trickling client; Node's does. */
const createListener = (): http.Server =>
  http.createServer({
    requestTimeout: REQUEST_MS,
    headersTimeout: HEADERS_MS,
    connectionsCheckingInterval: 500,
    keepAliveTimeout: 65_000,
  });

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

const greet = (server: Server, deps: ServerDeps): void => {
  server.ext('onRequest', (request, h) => {
    const given = request.headers['x-request-id'];
    const isSane = typeof given === 'string' && SANE_ID.test(given);
    const requestId = isSane ? given : deps.mintRequestId();
    request.app.visit = new RequestVisit(request, requestId, deps.trust());
    return h.continue;
  });
};

interface Limits {
  /** Count a request of a user, or of an address that shows no valid token. 429 with Retry-After. */
  user(request: Request, userId: string): void;
  stranger(request: Request): void;
}

const createLimits = ({ config, clock }: ServerDeps): Limits => {
  const perUser = createRate(config.ratePerUser, clock);
  const perAddress = createRate(config.ratePerAddress, clock);
  const count = (request: Request, take: () => Allowance | null): void => {
    if (UNCOUNTED.test(request.route.settings.id ?? '')) return;
    const allowance = take();
    request.app.allowance = allowance ?? request.app.allowance;
    if (!allowance?.isSpent) return;
    const { limit, resetSeconds: retryAfter } = allowance;
    throw Boom.tooManyRequests(`At most ${limit} requests a minute. Try again in ${retryAfter} s`, {
      code: 'rate_limited',
      retryAfter,
    });
  };
  return {
    user: (request, userId) => count(request, () => perUser.take(userId)),
    stranger: (request) =>
      request.app.visit?.isShared
        ? undefined
        : count(request, () => perAddress.take(networkOf(request.app.visit?.address ?? ''))),
  };
};

const authenticate = (server: Server, { identify }: ServerDeps, limits: Limits): void => {
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
      const { endpoint } = request.route.settings.app ?? {};
      const refusal = endpoint && refusalOf(caller, endpoint);
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
const finish = (request: Request, h: ResponseToolkit, deps: ServerDeps & { limits: Limits }) => {
  const response = answerTo(request, deps.limits);
  const requestId = request.app.visit?.requestId ?? deps.mintRequestId();
  const headers = { 'x-request-id': requestId, ...allowanceHeaders(request.app.allowance) };
  if (!('isBoom' in response)) {
    for (const [name, value] of Object.entries(headers)) response.header(name, value);
    return h.continue;
  }
  const boom = response.isServer ? (deps.translate(response) ?? response) : response;
  if (boom.isServer && boom.output.statusCode === 500) {
    deps.log.error({ requestId, path: request.path, err: boom }, 'request failed');
  }
  describe(boom, requestId);
  Object.assign(boom.output.headers, headers);
  if (boom !== request.response) throw boom;
  return h.continue;
};

/** To a path that nothing is on hapi answers at once; so that is counted here. */
const answerTo = (request: Request, limits: Limits): Request['response'] => {
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

const describe = (boom: Boom.Boom, requestId: string): void => {
  const data: ProblemData = boom.data ?? {};
  const { statusCode, error, message } = boom.output.payload;
  const details = data.details ?? detailsOf(boom);
  boom.output.payload = {
    statusCode,
    error,
    message:
      details && !data.details ? `Not accepted: ${details.map(sayDetail).join('; ')}` : message,
    ...(data.code && { code: data.code }),
    ...(details && { details }),
    requestId,
  };
  if (data.retryAfter) boom.output.headers['retry-after'] = String(data.retryAfter);
};

const sayDetail = ({ path, message }: { path: string; message: string }): string =>
  `${path || 'the body'} ${message}`;

const detailsOf = (boom: Boom.Boom): ProblemData['details'] => {
  if (!Joi.isError(boom)) return undefined;
  return boom.details.slice(0, 20).map(({ path, message }) => ({
    path: path.join('.'),
    message: message.slice(0, 300),
  }));
};

const logResponses = (server: Server, log: Log): void => {
  server.events.on('response', (request) => {
    const { response } = request;
    if (isReading(request)) return;
    const status = 'statusCode' in response ? response.statusCode : response.output.statusCode;
    const level =
      status >= 500 ? 'warn' : request.method === 'get' || isInbound(request) ? 'debug' : 'info';
    if (!log.isLevelEnabled(level)) return;
    log[level](
      {
        requestId: request.app.visit?.requestId,
        method: request.method,
        path: request.path,
        status,
        ms: request.info.responded - request.info.received,
        userId: request.auth.credentials?.app?.caller.userId,
      },
      'request',
    );
  });
};

/** To read the log is no line of it: who follows it would follow himself. */
const isReading = (request: Request): boolean => request.route.settings.id === 'logs.list';

/** Deliveries are in the database; a line for each would cost more than the work. */
const isInbound = (request: Request): boolean =>
  request.route.settings.id?.startsWith('receivers.') === true;
