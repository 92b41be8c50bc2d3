import { ApiError, Unreachable } from '../../src/client/errors.js';
import type { LoadFailure } from './lists.js';

/** Reason of a failed call. Rethrows errors that do not come from the daemon or the connection. */
export const toLoadFailure = (error: unknown): LoadFailure => {
  if (error instanceof ApiError) {
    const { statusCode, message, requestId } = error;
    return { status: statusCode, message, requestId };
  }
  if (error instanceof Unreachable) return { status: 0, message: error.reason };
  if (error instanceof DOMException && error.name === 'AbortError') return DESK_CLOSED;
  throw error;
};

/** The desk ended during a request, which must not look like a failure. */
const DESK_CLOSED: LoadFailure = { status: 0, message: 'the desk was closed' };
