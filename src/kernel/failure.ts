const sentences = {
  dns: 'the name does not resolve',
  refused_connection: 'the connection was refused',
  unreachable: 'the host cannot be reached',
  tls: 'a trusted TLS connection could not be established',
  timeout: 'the reply took too long',
  reset: 'the connection was interrupted',
  bad_response: 'the reply is not valid HTTP',
  too_large: 'the reply is too large',
  unknown_encoding: 'the reply has an unsupported content-encoding',
  undecodable: 'the reply does not match its content-encoding',
  too_many_redirects: 'the host redirects too many times',
  invalid_request: 'the request is not valid HTTP',
  aborted: 'the request was aborted',
};
export type FailureKind = keyof typeof sentences;

interface FailureContext {
  host: string;
  /** False only if no part of the request can have reached a host. */
  effectBegan: boolean;
  cause?: unknown;
  detail?: string | undefined;
  begun?: PartialReply | undefined;
}

export interface PartialReply {
  status: number;
  /** Lower-case names. Repeated headers are joined with commas. */
  headers: Record<string, string>;
  body: Buffer;
}

export class HttpFailure extends Error {
  readonly host: string;
  readonly effectBegan: boolean;
  readonly detail: string | undefined;
  readonly begun: PartialReply | undefined;

  constructor(
    readonly kind: FailureKind,
    { host, effectBegan, cause, detail, begun }: FailureContext,
  ) {
    super(`${host}: ${sentences[kind]}${detail === undefined ? '' : ` (${detail})`}`, { cause });
    // Users of fetch, such as the AI SDK, detect their own abort by this name.
    this.name = kind === 'aborted' ? 'AbortError' : 'HttpFailure';
    this.host = host;
    this.effectBegan = effectBegan;
    this.detail = detail;
    this.begun = begun;
  }
}

export class NamedError extends Error {
  constructor(message?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Message of any error, to be joined into a sentence. Some libraries end it with a full stop. */
export const errorReason = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/[.\s]+$/, '');

/**
 * Marks a temporary error, such as a full queue. A job that fails with it is retried until it
 * succeeds.
 */
export const markTemporary = <E extends Error>(error: E): E =>
  Object.assign(error, { isPassing: true });

export const isTemporaryError = (error: unknown): boolean =>
  error instanceof Error && 'isPassing' in error && error.isPassing === true;

export const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

export const isDiskFull = (error: unknown): boolean => /^(ENOSPC|EDQUOT)$/.test(errorCode(error));

export const diskFullSentence = (folder: string): string =>
  `The disk of ${folder} is full. Make room on it`;

export const failureKind = (error: Error): FailureKind | null => {
  // undici's parser leaves the code of its errors empty.
  if (error.name === 'HTTPParserError') return 'bad_response';
  const code = errorCode(error);
  return code.startsWith('ERR_SSL_') ? 'tls' : (kinds[code] ?? null);
};

const kinds: Record<string, FailureKind> = {
  EPROTO: 'tls',
  ECONNREFUSED: 'refused_connection',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'bad_response',
  UND_ERR_HEADERS_OVERFLOW: 'too_large',
  UND_ERR_INVALID_ARG: 'invalid_request',
  UND_ERR_NOT_SUPPORTED: 'invalid_request',
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: 'invalid_request',
  UND_ERR_DESTROYED: 'aborted',
  UND_ERR_CLOSED: 'aborted',
};
