import Boom from '@hapi/boom';
import Hapi, {
  type Lifecycle,
  type Request,
  type ResponseObject,
  type ResponseToolkit,
  type Server,
} from '@hapi/hapi';
import type { Config } from '../config.js';
import { createBodies } from '../kernel/body.js';
import type { ProxyTrust } from '../kernel/clientaddress.js';
import type { Clock } from '../kernel/clock.js';
import { unsupportedType } from '../kernel/form.js';
import type { Log } from '../kernel/log.js';
import type { ProxyWatch } from '../kernel/proxywatch.js';
import { computeBodyLength, holdsRanges } from '../kernel/ranges.js';
import type { Allowance } from '../kernel/rate.js';
import type { Replays } from '../kernel/replay.js';
import { LazyRequestContext } from '../kernel/requestcontext.js';
import { createResourceRoutes, type Resource, type RouteOptions } from '../kernel/route.js';
import { type AccessDeps, authenticate, createLimits, type RateLimits } from './access.js';
import { type FastPath, openFastPath } from './fastpath.js';
import { routeHandshakes } from './hubhandshake.js';
import { addLazily, type RouteGroup } from './lazyroutes.js';
import { createListener, replyToRefusals, requireHost } from './listener.js';
import { notFoundPage } from './page.js';
import {
  logReply,
  type ProblemDeps,
  resolveRequestId,
  toProblemBoom,
  toScimError,
} from './replies.js';

const BODY_BYTES = 1024 * 1024;
const UNVERIFIED_BYTES = 64 * 1024 * 1024;
export interface ServerDeps extends ProblemDeps {
  config: Config;
  clock: Clock;
  access: AccessDeps;
  replays: Replays;
  trust(): ProxyTrust;
  proxies: Pick<ProxyWatch, 'see'>;
  mintRequestId(): string;
}

export const createServer = (deps: ServerDeps, checkedReplies: number): Server => {
  const { config } = deps;
  const server = Hapi.server({
    host: config.host,
    port: config.port,
    listener: createListener(),
    debug: false,
    router: { stripTrailingSlash: true },
    routes: {
      cors: buildCorsOptions(config.origins),
      state: { parse: false, failAction: 'ignore' },
      payload: { maxBytes: BODY_BYTES, failAction: refuseBody },
      validate: {
        failAction: rethrow,
        options: { abortEarly: false, errors: { label: false }, messages: PATTERN_MESSAGES },
      },
      response: { failAction: rethrow, sample: checkedReplies },
      security: { hsts: false, referrer: 'no-referrer', xss: 'disabled' },
    },
  });
  attachRequestContext(server, deps);
  routeHandshakes(server);
  const limits = createLimits(config, deps.clock, deps.access.anonymousLimit);
  authenticate(server, deps.access, limits);
  server.ext('onPreResponse', (request, h) => finish(request, h, deps, limits));
  logResponses(server, deps.log);
  return server;
};

/** joi's messages contain the value, which may be a secret pasted into the wrong field. */
const PATTERN_MESSAGES = {
  'string.pattern.base': 'does not match the required pattern: {{#regex}}',
  'string.pattern.name': 'does not match the expected format: {{#name}}',
};

export interface ResourcesOptions extends Omit<RouteOptions, 'bodies'> {
  replied(method: string, status: number): void;
}

/** Receivers are also added to the fast path. */
export const addResources = (
  server: Server,
  resources: Resource[],
  { deps, options, pages }: { deps: ServerDeps; options: ResourcesOptions; pages: RouteGroup[] },
): FastPath => {
  const bodies = createBodies(UNVERIFIED_BYTES);
  const groups = resources.map((each) => ({
    paths: Object.values(each.contract).map(({ path }) => path),
    routes: () => createResourceRoutes(each, { ...options, bodies }),
  }));
  addLazily(server, [...groups, ...pages]);
  server.events.on('response', (request) =>
    options.replied(request.method, getResponseStatus(request)),
  );
  const receivers = resources.find(({ name }) => name === 'receivers');
  if (!receivers) throw new Error('The resource receivers is missing');
  const headers: Record<string, string> = deps.config.origins.length > 0 ? { vary: 'origin' } : {};
  const path = openFastPath(server.listener, receivers, {
    clock: deps.clock,
    log: deps.log,
    translate: deps.translate,
    trust: deps.trust,
    proxies: deps.proxies,
    mintRequestId: deps.mintRequestId,
    replied: options.replied,
    checkedReplies: options.checkedReplies,
    bodies,
    headers,
  });
  replyToRefusals(server.listener, deps);
  return path;
};

const getResponseStatus = ({ response }: Request): number =>
  'statusCode' in response ? response.statusCode : response.output.statusCode;

const SCIM_PATH = /^\/api\/scim(?:\/|$)/;

const OWN_HEADERS = [
  'x-request-id',
  'retry-after',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
];

const buildCorsOptions = (origin: string[]) =>
  origin.length > 0 && {
    origin,
    additionalHeaders: ['Idempotency-Key', 'X-Request-Id'],
    additionalExposedHeaders: OWN_HEADERS,
  };

/** hapi would hide joi's details. */
const rethrow: Lifecycle.Method = (_request, _h, error) => {
  throw error ?? new Error('Validation failed');
};

/** hapi reports an unsupported type as a bad request. */
const refuseBody: Lifecycle.Method = (request, _h, error) => {
  if (Boom.isBoom(error, 415) || error?.message.includes('content-type')) {
    const { form } = request.route.settings.app?.endpoint?.() ?? {};
    throw unsupportedType(request.headers['content-type'], form);
  }
  throw error ?? Boom.badRequest();
};

/** nes injects the logins of sockets, with headers that no client sent. */
const isSocketLogin = ({ method }: { method: string }): boolean => method === 'auth';

const attachRequestContext = (server: Server, deps: ServerDeps): void => {
  server.ext('onRequest', (request, h) => {
    const requestId = resolveRequestId(request.headers['x-request-id'], deps.mintRequestId);
    const trust = deps.trust();
    request.app.context = new LazyRequestContext(request, requestId, trust);
    if (!isSocketLogin(request)) deps.proxies.see(request.raw.req, trust);
    requireHost(request.raw.req);
    return h.continue;
  });
};

const finish = async (
  request: Request,
  h: ResponseToolkit,
  deps: ServerDeps,
  limits: RateLimits,
) => {
  deps.access.pageLogin.finish(request);
  const response = rangeRefusal(request) ?? responseTo(request, limits);
  const requestId = request.app.context?.requestId ?? deps.mintRequestId();
  const isSecret = request.route.settings.app?.endpoint?.().secret === true;
  const headers = {
    'x-request-id': requestId,
    ...allowanceHeaders(request.app.allowance),
    ...(isSecret && { 'cache-control': 'no-store' }),
  };
  if (!('isBoom' in response)) {
    withEach(response, headers);
    return h.continue;
  }
  const page =
    response.output.statusCode === 404 && (await notFoundPage(request, h, deps.config.page));
  if (page) return withEach(page, headers);
  const boom = toProblemBoom(response, { requestId, path: request.path }, deps);
  if (SCIM_PATH.test(request.path)) toScimError(boom);
  Object.assign(boom.output.headers, headers);
  if (boom !== request.response) throw boom;
  return h.continue;
};

const withEach = (response: ResponseObject, headers: Record<string, string>): ResponseObject => {
  for (const [name, value] of Object.entries(headers)) response.header(name, value);
  return response;
};

/** hapi would refuse it while sending, without the standard error body. */
const rangeRefusal = ({ headers: { range }, method, response }: Request): Boom.Boom | null => {
  if (typeof range !== 'string' || method !== 'get' || 'isBoom' in response) return null;
  const length = response.statusCode === 200 ? computeBodyLength(response) : 0;
  if (length === 0 || holdsRanges(range, length)) return null;
  const refusal = Boom.rangeNotSatisfiable(
    `Range not satisfiable. The content has ${length} bytes`,
  );
  refusal.output.headers['content-range'] = `bytes */${length}`;
  return refusal;
};

/** hapi answers unknown paths and methods before they are counted elsewhere. */
const responseTo = (request: Request, limits: RateLimits): Request['response'] => {
  const { response, route } = request;
  if (!('isBoom' in response) || String(route.method) !== '_special') return response;
  try {
    limits.anonymous(request);
    return refuseMethodOfReceiver(request) ?? response;
  } catch (error) {
    if (Boom.isBoom(error)) return error;
    throw error;
  }
};

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** The same reply whether or not a hook has the address. */
const refuseMethodOfReceiver = ({ server, method, path, response }: Request): Boom.Boom | null => {
  if (!('isBoom' in response) || response.output.statusCode !== 404) return null;
  if (!path.startsWith('/')) return null;
  const endpoint = server.match('post', path)?.settings.app?.endpoint?.();
  if (endpoint?.access !== 'public' || endpoint.rawBytes === undefined) return null;
  return Boom.methodNotAllowed(
    `This address does not support the method ${method.toUpperCase()}. Send webhooks with POST`,
    null,
    METHODS.filter((each) => server.match(each, path) !== null),
  );
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
    const status = getResponseStatus(request);
    logReply(log, method === 'get' || isInbound(request), status, () => ({
      requestId: app.context?.requestId,
      method,
      path,
      status,
      // A reply that was cut off has no end.
      ms: info.responded === 0 ? undefined : info.responded - info.received,
      userId: auth.credentials?.app?.caller.userId,
    }));
  });
};

/** Not logged, because a client that follows the log would follow its own requests. */
const isReading = (request: Request): boolean => request.route.settings.id === 'logs.list';

const isInbound = (request: Request): boolean =>
  request.route.settings.id?.startsWith('receivers.') === true;
