import { randomUUID } from 'node:crypto';
import type { Calls, Contract, Endpoint, Output } from '../kernel/endpoint.js';
import type { Static } from '../kernel/schema.js';
import type { sessions } from '../resources/sessions/contract.js';
import { type Answer, type Connection, exchange, type Request } from './exchange.js';
import { type Fetch, send } from './send.js';

/** Every resource that a client can speak to. A contract is loaded when it is first needed. */
export const contracts = {
  auth: async () => (await import('../resources/auth/contract.js')).auth,
  logins: async () => (await import('../resources/logins/contract.js')).logins,
  tokens: async () => (await import('../resources/tokens/contract.js')).tokens,
  vault: async () => (await import('../resources/vault/contract.js')).vault,
  webhooks: async () => (await import('../resources/webhooks/contract.js')).webhooks,
  keys: async () => (await import('../resources/keys/contract.js')).keys,
  totp: async () => (await import('../resources/totp/contract.js')).totp,
  passkeys: async () => (await import('../resources/passkeys/contract.js')).passkeys,
  hooks: async () => (await import('../resources/hooks/contract.js')).hooks,
  agents: async () => (await import('../resources/agents/contract.js')).agents,
  experts: async () => (await import('../resources/experts/contract.js')).experts,
  chat: async () => (await import('../resources/chat/contract.js')).chat,
  approvals: async () => (await import('../resources/approvals/contract.js')).approvals,
  permissions: async () => (await import('../resources/permissions/contract.js')).permissions,
  sessions: async () => (await import('../resources/sessions/contract.js')).sessions,
  skills: async () => (await import('../resources/skills/contract.js')).skills,
  models: async () => (await import('../resources/models/contract.js')).models,
  clitools: async () => (await import('../resources/clitools/contract.js')).clitools,
  providers: async () => (await import('../resources/providers/contract.js')).providers,
  notifications: async () => (await import('../resources/notifications/contract.js')).notifications,
  channels: async () => (await import('../resources/channels/contract.js')).channels,
  platforms: async () => (await import('../resources/platforms/contract.js')).platforms,
  outbox: async () => (await import('../resources/outbox/contract.js')).outbox,
  audit: async () => (await import('../resources/audit/contract.js')).audit,
  backups: async () => (await import('../resources/backups/contract.js')).backups,
  users: async () => (await import('../resources/users/contract.js')).users,
  tunnel: async () => (await import('../resources/tunnel/contract.js')).tunnel,
  health: async () => (await import('../resources/health/contract.js')).health,
  logs: async () => (await import('../resources/logs/contract.js')).logs,
  doctor: async () => (await import('../resources/doctor/contract.js')).doctor,
  overview: async () => (await import('../resources/overview/contract.js')).overview,
};

/** One message of a session. */
export type Message = Static<typeof sessions.messages.reply>['messages'][number];

export interface ClientOptions {
  /** Of the daemon, without a path: `http://127.0.0.1:3005`. */
  url: string;
  token?: string;
  fetch?: Fetch;
  /** 30 s unless given; a call that waits for something has that much more. */
  timeoutMs?: number;
  /** Ends every call of this client. */
  signal?: AbortSignal;
}

/** Path parameters by name, `query` and `body`. */
export interface CallInput {
  [parameter: string]: unknown;
  query?: object;
  body?: unknown;
}

type Resources = {
  [R in keyof typeof contracts]: Calls<Awaited<ReturnType<(typeof contracts)[R]>>>;
};

/** `hooks list` */
export type EndpointName = {
  [R in keyof Resources]: `${R} ${keyof Resources[R] & string}`;
}[keyof Resources];

/** What a call answers: `Reply<'models', 'usage'>`. */
export type Reply<
  R extends keyof Resources,
  E extends keyof Resources[R],
> = Resources[R][E] extends (...given: never[]) => Promise<infer T> ? T : never;

export interface Client extends Resources {
  url: string;
  /** Any endpoint; its reply is as the contract says. */
  call<E extends Endpoint>(endpoint: E, input?: CallInput): Promise<Output<E>>;
  /** Any request at all, and the whole answer to it. */
  request<T>(request: Request): Promise<Answer<T>>;
  /** The same client with other options. */
  with(options: Partial<ClientOptions>): Client;
}

const TIMEOUT_MS = 30_000;

/** A typed client of the API. Its calls throw ApiError, Unreachable, or the signal's reason. */
export const createClient = (options: ClientOptions): Client => {
  const to: Connection = {
    url: options.url.replace(/\/+$/, ''),
    token: options.token,
    fetch: options.fetch ?? send,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    signal: options.signal,
  };
  const call = async <E extends Endpoint>(endpoint: E, input: CallInput = {}) =>
    (await exchange<Output<E>>(to, requestOf(endpoint, input, to.timeoutMs))).body;
  return {
    url: to.url,
    ...resourcesOf(call),
    call,
    request: <T>(request: Request) => exchange<T>(to, request),
    with: (other) => createClient({ ...options, ...other }),
  };
};

type Call = (endpoint: Endpoint, input?: CallInput) => Promise<unknown>;

const resourcesOf = (call: Call): Resources => {
  const resources: Resources = Object.create(null);
  for (const [name, load] of Object.entries(contracts)) {
    Reflect.set(resources, name, callsOf<Contract>(load, call));
  }
  return resources;
};

/** One call per endpoint. What comes back is typed by the contract, which the daemon upholds. */
const callsOf = <C extends Contract>(load: () => Promise<C>, call: Call): Calls<C> =>
  new Proxy(Object.create(null), {
    get: (_, name: string) => async (input?: CallInput) => {
      const endpoint = (await load())[name];
      if (!endpoint) throw new TypeError(`No endpoint is called ${name}`);
      return call(endpoint, input);
    },
  });

/** TypeError: a path parameter is missing. */
const requestOf = (endpoint: Endpoint, input: CallInput, timeoutMs: number): Request => {
  const { method, access } = endpoint;
  const isRead = method === 'GET';
  // Public and secret endpoints keep no reply for a key: asking them twice acts twice.
  const isKept = !isRead && access !== 'public' && !endpoint.secret;
  return {
    method,
    path: fill(endpoint.path, input) + queryOf(input.query),
    headers: {
      ...(input.body !== undefined && { 'content-type': 'application/json' }),
      ...(isKept && { 'idempotency-key': randomUUID() }),
    },
    ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
    isRepeatable: isRead || isKept,
    timeoutMs: timeoutMs + waitOf(input.query),
  };
};

const fill = (path: string, input: CallInput): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = input[name];
    if (typeof value !== 'string' || value === '') throw new TypeError(`${path} needs ${name}`);
    return encodeURIComponent(value);
  });

const queryOf = (query: object = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const pairs = given.map(([name, value]): [string, string] => [name, String(value)]);
  return pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : '';
};

/** Milliseconds that the daemon was asked to wait before it answers. */
const waitOf = (query: object = {}): number =>
  'wait' in query && typeof query.wait === 'number' ? query.wait * 1000 : 0;
