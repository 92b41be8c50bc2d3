/** The only error body of the API. `code` is stable, for machines. */
export interface ProblemBody {
  statusCode: number;
  error: string;
  message: string;
  code?: string;
  details?: { path: string; message: string }[];
  requestId?: string;
}

/** An error reply of the daemon. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly statusCode: number;
  readonly code: string | undefined;
  readonly details: { path: string; message: string }[];
  readonly requestId: string | undefined;

  constructor(
    readonly body: ProblemBody,
    /**
     * The body that came in place of the error body. Readiness, for example, also lists what fails.
     */
    readonly reply?: unknown,
    /** The time in seconds that the daemon asks to wait for (`Retry-After`), if it does. */
    readonly retryAfterSeconds?: number,
  ) {
    super(body.message);
    this.statusCode = body.statusCode;
    this.code = body.code;
    this.details = body.details ?? [];
    this.requestId = body.requestId;
  }
}

/**
 * The error when no reply came. `mayHaveActed` is true if the request was under way when the
 * connection was lost.
 */
export class Unreachable extends Error {
  override name = 'Unreachable';

  constructor(
    readonly url: string,
    readonly reason: string,
    readonly mayHaveActed = false,
  ) {
    super(`Cannot reach Adjutant at ${url}: ${reason}`);
  }
}
