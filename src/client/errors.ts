/** The only error body of the API. `code` is stable, for programs. */
export interface ProblemBody {
  statusCode: number;
  error: string;
  message: string;
  code?: string;
  details?: { path: string; message: string }[];
  requestId?: string;
}

export class ApiError extends Error {
  override name = 'ApiError';
  readonly statusCode: number;
  readonly code: string | undefined;
  readonly details: { path: string; message: string }[];
  readonly requestId: string | undefined;

  constructor(
    readonly body: ProblemBody,
    /** Body other than the error body. Readiness, for example, lists what fails. */
    readonly reply?: unknown,
    readonly retryAfterSeconds?: number,
  ) {
    super(body.message);
    this.statusCode = body.statusCode;
    this.code = body.code;
    this.details = body.details ?? [];
    this.requestId = body.requestId;
  }
}

/** No reply. `mayHaveActed`: the request was under way when the connection was lost. */
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
