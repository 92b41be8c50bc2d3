import { randomUUID } from 'node:crypto';
import { contracts } from '../api.js';
import type { sessions } from '../conversations/contract.js';
import { type Clock, systemClock } from '../kernel/clock.js';
import type { Calls, Contract, Endpoint, Output } from '../kernel/contract/endpoint.js';
import type { Static } from '../kernel/contract/schema.js';
import { stringifyExact } from '../kernel/exactjson.js';
import { type ClientReply, type ClientRequest, type Connection, exchangeJson } from './exchange.js';
import { type FetchLike, send } from './send.js';

export type ConversationMessage = Static<typeof sessions.messages.reply>['messages'][number];

export interface ClientOptions {
  /** Without a path: `http://127.0.0.1:3005`. */
  url: string;
  token?: string;
  fetch?: FetchLike;
  /** Timeout per call, 30 s by default. A call that waits gets its waiting time in addition. */
  timeoutMs?: number;
  signal?: AbortSignal;
  clock?: Clock;
}

export interface ClientInput {
  [parameter: string]: unknown;
  query?: object;
  body?: unknown;
}

type Resources = {
  [R in keyof typeof contracts]: Calls<Awaited<ReturnType<(typeof contracts)[R]>>>;
};

export type EndpointName = {
  [R in keyof Resources]: `${R} ${keyof Resources[R] & string}`;
}[keyof Resources];

export type Reply<
  R extends keyof Resources,
  E extends keyof Resources[R],
> = Resources[R][E] extends (...given: never[]) => Promise<infer T> ? T : never;

export interface Client extends Resources {
  url: string;
  call<E extends Endpoint>(endpoint: E, input?: ClientInput): Promise<Output<E>>;
  request<T>(request: ClientRequest): Promise<ClientReply<T>>;
  with(options: Partial<ClientOptions>): Client;
}

const TIMEOUT_MS = 30_000;

export const createClient = (options: ClientOptions): Client => {
  const to: Connection = {
    url: options.url.replace(/\/+$/, ''),
    token: options.token,
    fetch: options.fetch ?? send,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    signal: options.signal,
    clock: options.clock ?? systemClock,
  };
  const call = async <E extends Endpoint>(endpoint: E, input: ClientInput = {}) =>
    (await exchangeJson<Output<E>>(to, buildClientRequest(endpoint, input, options.timeoutMs)))
      .body;
  return {
    url: to.url,
    ...createResources(call),
    call,
    request: <T>(request: ClientRequest) => exchangeJson<T>(to, request),
    with: (other) => createClient({ ...options, ...other }),
  };
};

type CallEndpoint = (endpoint: Endpoint, input?: ClientInput) => Promise<unknown>;

const createResources = (call: CallEndpoint): Resources => {
  const resources: Resources = Object.create(null);
  for (const [name, load] of Object.entries(contracts)) {
    Reflect.set(resources, name, createCalls<Contract>(load, call));
  }
  return resources;
};

/** Reply types come from the contract, which the daemon guarantees. */
const createCalls = <C extends Contract>(load: () => Promise<C>, call: CallEndpoint): Calls<C> =>
  new Proxy(Object.create(null), {
    get: (_, name: string) => async (input?: ClientInput) => {
      const endpoint = (await load())[name];
      if (!endpoint) throw new TypeError(`Unknown endpoint: ${name}`);
      return call(endpoint, input);
    },
  });

const buildClientRequest = (
  endpoint: Endpoint,
  input: ClientInput,
  timeoutMs: number | undefined,
): ClientRequest => {
  const { method, access, readsOnly = false, maxReplyMs = TIMEOUT_MS } = endpoint;
  const isRead = method === 'GET' || readsOnly;
  // Public and secret endpoints keep no idempotency record, so a repeated request acts twice.
  const isKept = !isRead && access !== 'public' && !endpoint.secret;
  return {
    method,
    path: fill(endpoint.path, input) + buildQueryString(input.query),
    headers: {
      ...(input.body !== undefined && { 'content-type': 'application/json' }),
      ...(isKept && { 'idempotency-key': randomUUID() }),
    },
    ...(input.body !== undefined && { body: stringifyExact(input.body) ?? '' }),
    isRepeatable: isRead || isKept,
    timeoutMs: (timeoutMs ?? maxReplyMs) + getWaitMs(input.query),
  };
};

const fill = (path: string, input: ClientInput): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = input[name];
    if (typeof value !== 'string' || value === '')
      throw new TypeError(`${path} requires the parameter ${name}`);
    return encodeURIComponent(value);
  });

const buildQueryString = (query: object = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const pairs = given.map(([name, value]): [string, string] => [name, String(value)]);
  return pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : '';
};

const getWaitMs = (query: object = {}): number =>
  'wait' in query && typeof query.wait === 'number' ? query.wait * 1000 : 0;
