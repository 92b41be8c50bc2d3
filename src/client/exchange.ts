import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, type ProblemBody, Unreachable } from './errors.js';
import type { FetchLike, FetchResponse } from './send.js';

/** Where and how to ask. */
export interface Connection {
  url: string;
  token: string | undefined;
  fetch: FetchLike;
  /** How long one answer may take, in milliseconds. */
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

export interface ClientRequest {
  method: string;
  /** With its query. */
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Asking twice does what asking once does, so a lost answer may be asked for again. */
  isRepeatable?: boolean;
  timeoutMs?: number;
}

export interface ClientReply<T = unknown> {
  status: number;
  requestId: string | undefined;
  /** Parsed where it is JSON, else text; undefined where it is empty. */
  body: T;
}

const ATTEMPTS = 3;
const BETWEEN_MS = 250;

/**
 * One request and its answer, whose body is what the caller says: the daemon upholds its contract.
 * ApiError: a status of 400 or more. Unreachable: no answer.
 */
export const exchangeJson = async <T>(
  to: Connection,
  request: ClientRequest,
): Promise<ClientReply<T>> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask(to, request);
    } catch (error) {
      const isLost = error instanceof Unreachable && error.mayHaveActed;
      if (!isLost || !request.isRepeatable || attempt === ATTEMPTS) throw error;
      await pause(attempt * BETWEEN_MS, undefined, { signal: to.signal });
    }
  }
};

const ask = async <T>(to: Connection, request: ClientRequest): Promise<ClientReply<T>> => {
  const timeoutMs = request.timeoutMs ?? to.timeoutMs;
  const limit = limitOf(to.signal, timeoutMs);
  try {
    const response = await to.fetch(`${to.url}${request.path}`, {
      method: request.method,
      headers: { ...(to.token && { authorization: `Bearer ${to.token}` }), ...request.headers },
      ...(request.body !== undefined && { body: request.body }),
      signal: limit.signal,
    });
    return read(response, await response.text());
  } catch (error) {
    if (error instanceof ApiError) throw error;
    to.signal?.throwIfAborted();
    if (limit.signal.aborted) {
      throw new Unreachable(to.url, `no answer in ${timeoutMs / 1000} s`, true);
    }
    throw unreachable(to.url, error);
  } finally {
    limit.lift();
  }
};

/** As long as a timer holds: Node ends longer ones after 1 ms. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Aborts with the given signal and when it is too late. AbortSignal.timeout would hold what was
 * asked, and its answer, for as long as the time runs.
 */
const limitOf = (given: AbortSignal | undefined, timeoutMs: number) => {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const timer = setTimeout(abort, Math.min(timeoutMs, LONGEST_MS));
  if (given?.aborted) abort();
  given?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    lift: () => {
      clearTimeout(timer);
      given?.removeEventListener('abort', abort);
    },
  };
};

/** The answer that a response holds. ApiError: a status of 400 or more. */
export const read = <T>(response: Omit<FetchResponse, 'text'>, text: string): ClientReply<T> => {
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  const body = text === '' ? undefined : isJson ? JSON.parse(text) : text;
  if (response.ok) return { status: response.status, requestId, body };
  if (isProblem(body)) throw new ApiError(body);
  throw new ApiError(strange(response, requestId), body);
};

/** Not the daemon's error body: mostly something in front of it speaks. */
const strange = (
  { status, statusText }: Omit<FetchResponse, 'text'>,
  requestId?: string,
): ProblemBody => ({
  statusCode: status,
  error: statusText,
  message: `The answer was ${status} ${statusText}`,
  requestId,
});

const isProblem = (body: unknown): body is ProblemBody =>
  typeof body === 'object' && body !== null && 'statusCode' in body && 'message' in body;

/** The connection never came about: nothing can have been done. */
const NEVER_SENT: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'the name does not resolve',
  EAI_AGAIN: 'the name does not resolve',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the host does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'the host does not answer',
};

/** What is thrown where there is no connection, or no more; anything else as it is. */
export const unreachable = (url: string, error: unknown): unknown => {
  if (!(error instanceof TypeError)) return error;
  const code = codeOf(error.cause);
  const reason = NEVER_SENT[code] ?? misspoken(url, code, error.cause);
  if (reason) return new Unreachable(url, reason);
  if (code.includes('CERT') || code.startsWith('ERR_SSL')) {
    return new Unreachable(url, `its certificate is not trusted (${code})`);
  }
  const said = error.cause instanceof Error ? error.cause.message : error.message;
  return new Unreachable(url, `the connection broke off (${said})`, true);
};

/** TLS to a server without it, and HTTP to what speaks something else; null: it is neither. */
export const misspoken = (url: string, code: string, cause: unknown): string | null => {
  const said = cause instanceof Error ? cause.message : '';
  if (
    /^(EPROTO|ERR_SSL_)/.test(code) &&
    /wrong.version.number|packet length too long/i.test(said)
  ) {
    const { origin } = new URL(url.replace(/^(http|ws)s:/, '$1:'));
    return `it speaks http, not https: give ${origin.replace(/^ws/, 'http')}`;
  }
  return code.startsWith('HPE_') ? 'what answers there does not speak http; perhaps https' : null;
};

/** A name with several addresses fails with one error for each. */
const codeOf = (cause: unknown): string => {
  if (cause instanceof AggregateError) return codeOf(cause.errors[0]);
  return cause instanceof Error && 'code' in cause ? String(cause.code) : '';
};
