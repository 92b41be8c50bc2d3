import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import Boom from '@hapi/boom';
import type { Bodies } from '../kernel/body.js';
import type { ProxyTrust } from '../kernel/clientaddress.js';
import type { Clock } from '../kernel/clock.js';
import { CustomReply, type Endpoint } from '../kernel/contract/endpoint.js';
import type { ProxyWatch } from '../kernel/proxywatch.js';
import { readRawBody } from '../kernel/raw.js';
import { LazyRequestContext } from '../kernel/requestcontext.js';
import { getSuccessStatus, type Resource } from '../kernel/route.js';
import { hasSeveralHosts } from './listener.js';
import { logReply, type ProblemDeps, resolveRequestId, toProblemBoom } from './replies.js';

/**
 * Plain deliveries bypass hapi, whose lifecycle takes as long as the rest of a delivery. Contract,
 * handler, bodies, errors and headers are the same. Other requests go to hapi: those with a query,
 * an escaped path, no host, another type or origin, or an invalid length, and all during shutdown.
 */
export interface FastPath {
  drain(): Promise<void>;
}

export interface FastPathDeps extends ProblemDeps {
  clock: Clock;
  trust(): ProxyTrust;
  proxies: Pick<ProxyWatch, 'see'>;
  mintRequestId(): string;
  replied(method: string, status: number): void;
  bodies: Bodies;
  headers: Record<string, string>;
  checkedReplies: number;
}

interface FastRoute {
  endpoint: Endpoint;
  pattern: RegExp;
  parameter: string;
  most: number;
  handle(input: unknown, by: unknown): Promise<unknown>;
}

/** Alternating names and values, the fastest form for writeHead. */
type HeaderPairs = string[];

const flat = (headers: Record<string, unknown>): HeaderPairs =>
  Object.entries(headers).flatMap(([name, value]) => [name, String(value)]);

const PLAIN_TYPE = /^application\/json(;|$)/;

const HEADERS = flat({
  'content-type': 'application/json; charset=utf-8',
  'x-frame-options': 'DENY',
  'x-xss-protection': '0',
  'x-download-options': 'noopen',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
});

export const openFastPath = (listener: Server, of: Resource, deps: FastPathDeps): FastPath => {
  const routes = Object.entries(of.contract)
    .filter(([, { method }]) => method === 'POST')
    .map(([name, endpoint]) => createFastRoute(endpoint, of.handlers[name]));
  const behind = listener.listeners('request');
  const always = [...HEADERS, ...flat(deps.headers)];
  let underway = 0;
  let whenDrained: (() => void) | null = null;

  const take = async (route: FastRoute, request: IncomingMessage, response: ServerResponse) => {
    const since = deps.clock.now();
    const context = createFastContext(request, response, deps);
    const reply = await replyTo(route, { request, context }, deps);
    const last = whenDrained ? ['connection', 'close'] : [];
    send(response, reply, ['x-request-id', context.requestId, ...always, ...last]);
    deps.replied('post', reply.status);
    logReply(deps.log, true, reply.status, () => ({
      requestId: context.requestId,
      method: 'post',
      path: request.url ?? '',
      status: reply.status,
      ms: deps.clock.now() - since,
    }));
  };

  const leave = (): void => {
    if (--underway === 0) whenDrained?.();
  };

  listener.removeAllListeners('request');
  listener.on('request', (request, response) => {
    const route = whenDrained ? undefined : routes.find((each) => isPlain(request, each));
    if (route) {
      underway++;
      take(route, request, response).then(leave, (err) => {
        leave();
        deps.log.error({ err, path: request.url }, 'failed to send a reply');
        response.destroy();
      });
      return;
    }
    for (const each of behind) each.call(listener, request, response);
  });
  return {
    drain: () =>
      new Promise((resolve) => {
        whenDrained = resolve;
        if (underway === 0) resolve();
      }),
  };
};

const createFastRoute = (
  endpoint: Endpoint,
  handle: FastRoute['handle'] | undefined,
): FastRoute => {
  const [, before = '', parameter = ''] = /^(.+\/)\{(\w+)\}$/.exec(endpoint.path) ?? [];
  const { access, method, rawBytes: most } = endpoint;
  if (!handle || !parameter || !most || access !== 'public' || method !== 'POST') {
    throw new Error(`Only hapi can serve ${endpoint.method} ${endpoint.path}`);
  }
  return { endpoint, pattern: new RegExp(`^${before}([\\w-][\\w.-]*)$`), parameter, most, handle };
};

const isPlain = (
  { method, url = '', headers, rawHeaders }: IncomingMessage,
  route: FastRoute,
): boolean =>
  method === 'POST' &&
  route.pattern.test(url) &&
  headers.host !== undefined &&
  !hasSeveralHosts(rawHeaders) &&
  headers.origin === undefined &&
  PLAIN_TYPE.test(headers['content-type'] ?? 'application/json') &&
  Number(headers['content-length'] ?? Number.NaN) <= route.most;

const createFastContext = (
  request: IncomingMessage,
  response: ServerResponse,
  deps: FastPathDeps,
) => {
  const { headers, socket } = request;
  const events = { once: (_: 'disconnect', act: () => void) => response.once('close', act) };
  const requestId = resolveRequestId(headers['x-request-id'], deps.mintRequestId);
  const trust = deps.trust();
  deps.proxies.see(request, trust);
  const incoming = { headers, info: socket, events, raw: { req: request } };
  return new LazyRequestContext(incoming, requestId, trust);
};

const replyTo = async (
  { endpoint, pattern, parameter, most, handle }: FastRoute,
  { request, context }: { request: IncomingMessage; context: LazyRequestContext },
  deps: FastPathDeps,
) => {
  const { url: path = '', headers } = request;
  try {
    const result = await readRawBody(deps.bodies, { stream: request, most }, (bytes) => {
      // A computed name in the literal would create a hidden class per request.
      const input: Record<string, unknown> = { query: {}, raw: { bytes, headers, url: path } };
      input[parameter] = pattern.exec(path)?.[1];
      return handle(input, context);
    });
    const reply =
      result instanceof CustomReply ? result : new CustomReply(getSuccessStatus(endpoint), result);
    if (Math.random() * 100 < deps.checkedReplies) check(endpoint, reply);
    const text = reply.status === 204 ? '' : JSON.stringify(reply.body);
    return { status: reply.status, text, headers: flat(reply.headers) };
  } catch (error) {
    const at = { requestId: context.requestId, path };
    const { statusCode: status, payload, headers } = toProblemBoom(toBoom(error), at, deps).output;
    return { status, text: JSON.stringify(payload), headers: flat(headers) };
  }
};

const toBoom = (error: unknown): Boom.Boom =>
  Boom.boomify(error instanceof Error ? error : new Error(String(error)));

const check = (endpoint: Endpoint, { status, body }: CustomReply<unknown>): void => {
  const schema =
    status === getSuccessStatus(endpoint) ? endpoint.reply : endpoint.otherReplies?.[status];
  const error = schema?.validate(body).error;
  if (error) throw new Error(`${endpoint.path} violates its reply schema: ${error}`);
};

const send = (
  response: ServerResponse,
  { status, text, headers }: Awaited<ReturnType<typeof replyTo>>,
  all: HeaderPairs,
): void => {
  all.push(...headers, 'content-length', String(Buffer.byteLength(text)));
  response.writeHead(status, all);
  response.end(text);
};
