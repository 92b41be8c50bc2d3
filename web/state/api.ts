import type { contracts } from '../../src/api.js';
import type { Endpoint, Input, Output } from '../../src/kernel/contract/endpoint.js';
import { loginKey } from './loginkey.js';

type LoadedContracts = {
  [R in keyof typeof contracts]: Awaited<ReturnType<(typeof contracts)[R]>>;
};
/** Every endpoint of the API, with the literal types of its contract. */
type AnyEndpoint = {
  [R in keyof LoadedContracts]: LoadedContracts[R][keyof LoadedContracts[R]];
}[keyof LoadedContracts];
type Method = Endpoint['method'];
type Endpoints<M extends Method> = Extract<AnyEndpoint, { method: M }>;
type PathOf<M extends Method> = Endpoints<M>['path'];
type EndpointAt<M extends Method, P extends string> = Extract<Endpoints<M>, { path: P }>;
/** Reply of an endpoint, by method and path. */
export type ReplyOf<M extends Method, P extends string> =
  EndpointAt<M, P> extends infer E extends Endpoint ? Output<E> : never;
/**
 * Path parameters by name, `query` and `body`. Calls with the same `sendKey` and input act once and
 * get the same reply.
 */
type InputOf<M extends Method, P extends string> =
  EndpointAt<M, P> extends infer E extends Endpoint
    ? Partial<Input<E>> & { sendKey?: string }
    : never;

/** Error reply of the API, or a missing reply (status 0). */
export class RequestError extends Error {
  override name = 'RequestError';

  constructor(
    message: string,
    readonly status: number,
    readonly code: string | undefined,
  ) {
    super(message);
  }
}

/** User shown by the page. The daemon refuses a change if the cookie belongs to another user. */
let shownUser: string | null = null;
let onEnd: (reason: string) => void = () => {};

export const showUser = (userId: string | null): void => {
  shownUser = userId;
};

/** Registers a handler for the end of the login, or the login of another user. */
export const whenLoginEnds = (act: (reason: string) => void): void => {
  onEnd = act;
};

/**
 * Calls an endpoint. Rejects with RequestError. The types follow from the contract, by method and
 * path.
 */
export const ask = async <const M extends Method, const P extends PathOf<M>>(
  method: M,
  path: P,
  input: InputOf<M, P> | Record<string, never> = {},
  signal?: AbortSignal,
): Promise<ReplyOf<M, P>> => {
  const parameters = new Map<string, unknown>(Object.entries(input));
  const body = parameters.get('body');
  const sendKey = parameters.get('sendKey');
  const response = await fetchOrFail(fill(path, parameters), {
    method,
    credentials: 'same-origin',
    headers: {
      'x-adjutant-page': loginKey() ?? '1',
      ...(shownUser !== null && { 'x-adjutant-user': shownUser }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(typeof sendKey === 'string' && { 'idempotency-key': sendKey }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json');
  // The daemon validates its replies against the contract.
  const reply = isJson && text !== '' ? JSON.parse(text) : text;
  if (response.ok) return reply;
  const { message = response.statusText, code } = Object(reply);
  if (response.status === 401 && shownUser !== null) {
    onEnd(code === 'other_user' ? message : 'Your login session has ended');
  }
  throw new RequestError(message, response.status, code);
};

const fetchOrFail = async (url: string, options: RequestInit): Promise<Response> => {
  try {
    return await fetch(url, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new RequestError(
      'The daemon cannot be reached. Check that the daemon is running',
      0,
      undefined,
    );
  }
};

const fill = (path: string, parameters: Map<string, unknown>): string => {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(String(parameters.get(name))),
  );
  const query = Object.entries(Object(parameters.get('query'))).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return query.length === 0 ? filled : `${filled}?${new URLSearchParams(query)}`;
};
