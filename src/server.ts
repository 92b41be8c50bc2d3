import http from 'node:http';
import Boom from '@hapi/boom';
import Hapi, { type Lifecycle, type Request, type ResponseToolkit, type Server } from '@hapi/hapi';
import type { ValidationError } from 'joi';
import type { Config } from './config.js';
import type { Caller, Visit } from './kernel/endpoint.js';
import type { Log } from './kernel/log.js';
import { addressSet, clientAddress, isFromHere } from './kernel/peer.js';
import type { ProblemData } from './kernel/problem.js';
import { type Replays, type Resource, routesOf } from './kernel/route.js';

const HEADERS_MS = 10_000;
const REQUEST_MS = 15_000;
const BODY_BYTES = 1024 * 1024;
const DEEPEST = 64;
const SANE_ID = /^[\w.:-]{1,64}$/;

export interface ServerDeps {
  config: Config;
  log: Log;
  /** Who a token belongs to, looked up anew on every request; null = nobody. */
  identify(token: string): Promise<Omit<Caller, keyof Visit> | null>;
  replays: Replays;
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
      cors: config.origins.length > 0 ? { origin: config.origins } : false,
      state: { parse: false, failAction: 'ignore' },
      payload: { maxBytes: BODY_BYTES },
      validate: {
        failAction: rethrow,
        options: { abortEarly: false, errors: { label: false } },
      },
      response: { failAction: rethrow, sample: checkedReplies },
      security: { hsts: false, referrer: 'no-referrer', xss: 'disabled' },
    },
  });
  greet(server, deps);
  authenticate(server, deps);
  server.ext('onPostAuth', refuseDeep);
  server.ext('onPreResponse', (request, h) => describeError(request, h, deps));
  logResponses(server, deps.log);
  return server;
};

export const addResources = (
  server: Server,
  resources: Resource[],
  options: { checkedReplies: number; replays: Replays },
): void => {
  for (const each of resources) server.route(routesOf(each, options));
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

const greet = (server: Server, deps: ServerDeps): void => {
  const trusted = addressSet(deps.config.trustedProxies);
  server.ext('onRequest', (request, h) => {
    const given = request.headers['x-request-id'];
    const peer = request.info.remoteAddress ?? '';
    let away: AbortController | null = null;
    request.app.visit = {
      requestId: typeof given === 'string' && SANE_ID.test(given) ? given : deps.mintRequestId(),
      address: clientAddress(peer, request.headers, trusted),
      isLocal: isFromHere(peer, request.headers),
      get signal() {
        away ??= abortWhenGone(request);
        return away.signal;
      },
    };
    return h.continue;
  });
};

const abortWhenGone = (request: Request): AbortController => {
  const away = new AbortController();
  request.events.once('disconnect', () => away.abort());
  return away;
};

const authenticate = (server: Server, { identify }: ServerDeps): void => {
  server.auth.scheme('bearer', () => ({
    authenticate: async (request, h) => {
      const token = /^Bearer +(\S+)$/i.exec(String(request.headers.authorization ?? ''))?.[1];
      const who = token === undefined ? null : await identify(token);
      if (!who) throw Boom.unauthorized('Log in first: no valid token', 'Bearer');
      const caller: Caller = Object.assign(Object.create(request.app.visit ?? null), who);
      return h.authenticated({
        credentials: { user: who.userId, app: { caller }, scope: [who.role] },
      });
    },
  }));
  server.auth.strategy('jwt', 'bearer');
  server.auth.default('jwt');
};

const refuseDeep = (request: Request, h: ResponseToolkit) => {
  const { payload } = request;
  if (typeof payload !== 'object' || payload === null || Buffer.isBuffer(payload))
    return h.continue;
  if (isDeeper(payload, DEEPEST)) throw Boom.badRequest(`JSON is nested over ${DEEPEST} deep`);
  return h.continue;
};

/** Whether arrays and objects are nested more than `depth` deep; level by level, so it cannot overflow. */
export const isDeeper = (value: object, depth: number): boolean => {
  let level: object[] = [value];
  for (let deep = 0; level.length > 0; deep++) {
    if (deep >= depth) return true;
    const next: object[] = [];
    for (const each of level) {
      for (const inner of Object.values(each)) {
        if (typeof inner === 'object' && inner !== null) next.push(inner);
      }
    }
    level = next;
  }
  return false;
};

const describeError = (request: Request, h: ResponseToolkit, deps: ServerDeps) => {
  const { response } = request;
  const requestId = request.app.visit?.requestId ?? deps.mintRequestId();
  if (!('isBoom' in response)) {
    response.header('x-request-id', requestId);
    return h.continue;
  }
  const boom = response.isServer ? (deps.translate(response) ?? response) : response;
  if (boom.isServer && boom.output.statusCode === 500) {
    deps.log.error({ requestId, path: request.path, err: boom }, 'request failed');
  }
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
  boom.output.headers['x-request-id'] = requestId;
  if (data.retryAfter) boom.output.headers['retry-after'] = String(data.retryAfter);
  if (boom !== response) throw boom;
  return h.continue;
};

const sayDetail = ({ path, message }: { path: string; message: string }): string =>
  `${path || 'the body'} ${message}`;

const detailsOf = (boom: Boom.Boom): ProblemData['details'] => {
  const found = (boom as Partial<ValidationError>).details;
  if (!Array.isArray(found)) return undefined;
  return found.slice(0, 20).map(({ path, message }) => ({
    path: path.join('.'),
    message: message.slice(0, 300),
  }));
};

const logResponses = (server: Server, log: Log): void => {
  server.events.on('response', (request) => {
    const { response } = request;
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

/** Deliveries are in the database; a line for each would cost more than the work. */
const isInbound = (request: Request): boolean =>
  request.route.settings.id?.startsWith('receivers.') === true;
