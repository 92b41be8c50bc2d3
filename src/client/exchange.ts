import type { Clock } from '../kernel/clock.js';
import { reviverFor } from '../kernel/exactjson.js';
import { ApiError, type ProblemBody, Unreachable } from './errors.js';
import type { FetchLike, FetchResponse } from './send.js';

export interface Connection {
  url: string;
  token: string | undefined;
  fetch: FetchLike;
  timeoutMs: number;
  signal: AbortSignal | undefined;
  clock: Clock;
}

export interface ClientRequest {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Whether the client may repeat the request if the reply is lost. */
  isRepeatable?: boolean;
  timeoutMs?: number;
}

export interface ClientReply<T = unknown> {
  status: number;
  requestId: string | undefined;
  body: T;
}

const ATTEMPTS = 3;
const BETWEEN_MS = 250;
const BUSY_MS = 1000;

/**
 * The caller states the type of the body, which the daemon guarantees. Throws ApiError for 400 and
 * above, and Unreachable without a reply. A repeated request waits while the daemon still works on
 * the first one, up to another `timeoutMs`.
 */
export const exchangeJson = async <T>(
  to: Connection,
  request: ClientRequest,
): Promise<ClientReply<T>> => {
  let lost = 0;
  let busyMs = 0;
  for (;;) {
    try {
      return await ask(to, request);
    } catch (error) {
      if (lost > 0 && isBusy(error) && busyMs < (request.timeoutMs ?? to.timeoutMs)) {
        busyMs += BUSY_MS;
        await to.clock.wait(BUSY_MS, to.signal);
        continue;
      }
      const isLost = error instanceof Unreachable && error.mayHaveActed;
      if (!isLost || !request.isRepeatable || ++lost === ATTEMPTS) throw error;
      await to.clock.wait(lost * BETWEEN_MS, to.signal);
    }
  }
};

const isBusy = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'idempotency_key_busy';

const ask = async <T>(to: Connection, request: ClientRequest): Promise<ClientReply<T>> => {
  const timeoutMs = request.timeoutMs ?? to.timeoutMs;
  const limit = createTimeoutSignal(to, timeoutMs);
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
      throw new Unreachable(to.url, `no reply within ${timeoutMs / 1000} s`, true);
    }
    throw unreachable(to.url, error);
  } finally {
    limit.lift();
  }
};

/** A deadline would keep the request and its reply in memory until the time is over. */
const createTimeoutSignal = ({ signal: given, clock }: Connection, timeoutMs: number) => {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const cancel = clock.after(timeoutMs, abort);
  if (given?.aborted) abort();
  given?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    lift: () => {
      cancel();
      given?.removeEventListener('abort', abort);
    },
  };
};

export const read = <T>(response: Omit<FetchResponse, 'text'>, text: string): ClientReply<T> => {
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  const body = text === '' ? undefined : isJson ? JSON.parse(text, reviverFor(text)) : text;
  const { ok, status, statusText: error } = response;
  if (ok) return { status, requestId, body };
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const waitSeconds = Number.isFinite(retryAfter) ? retryAfter : undefined;
  if (isProblem(body)) throw new ApiError(body, undefined, waitSeconds);
  // Not the daemon's reply, mostly from a proxy.
  const message = `The server replied with status ${status} ${error}`;
  throw new ApiError({ statusCode: status, error, message, requestId }, body, waitSeconds);
};

const isProblem = (body: unknown): body is ProblemBody =>
  typeof body === 'object' && body !== null && 'statusCode' in body && 'message' in body;

/** The connection was never established, so the request had no effect. */
const CONNECT_ERRORS: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'the name does not resolve',
  EAI_AGAIN: 'the name does not resolve',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the host does not reply',
  UND_ERR_CONNECT_TIMEOUT: 'the host does not reply',
};

export const unreachable = (url: string, error: unknown): unknown => {
  if (!(error instanceof TypeError)) return error;
  const code = getErrorCode(error);
  const reason = CONNECT_ERRORS[code] ?? protocolMismatch(url, code, error.cause);
  if (reason) return new Unreachable(url, reason);
  if (isCertificateError(code)) {
    return new Unreachable(url, `the certificate of the server is not trusted (${code})`);
  }
  const detail = error.cause instanceof Error ? error.cause.message : error.message;
  return new Unreachable(url, `the connection was interrupted (${detail})`, true);
};

/** TLS met plain HTTP, or HTTP another protocol. Otherwise null. */
export const protocolMismatch = (url: string, code: string, cause: unknown): string | null => {
  const detail = cause instanceof Error ? cause.message : '';
  if (
    /^(EPROTO|ERR_SSL_)/.test(code) &&
    /wrong.version.number|packet length too long/i.test(detail)
  ) {
    const { origin } = new URL(url.replace(/^(http|ws)s:/, '$1:'));
    return `the server uses http, not https. Use ${origin.replace(/^ws/, 'http')}`;
  }
  return code.startsWith('HPE_') ? 'the server does not use http. Try https' : null;
};

/** Codes of OpenSSL for an untrusted certificate, such as DEPTH_ZERO_SELF_SIGNED_CERT. */
export const isCertificateError = (code: string): boolean =>
  /CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE|^ERR_SSL/.test(code);

/** Code of the cause. A name with several addresses fails with one error per address. */
export const getErrorCode = ({ cause }: TypeError): string => {
  const first = cause instanceof AggregateError ? cause.errors[0] : cause;
  return first instanceof Error && 'code' in first ? String(first.code) : '';
};
