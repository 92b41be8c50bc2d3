import { ApiError, Unreachable } from '../../src/client/errors.js';
import type { LoadFailure } from './lists.js';

/**
 * Returns the reason why a call failed. Throws an error that does not come from the daemon or the
 * connection.
 */
export const loadFailureOf = (error: unknown): LoadFailure => {
  if (error instanceof ApiError) {
    const { statusCode, message, requestId } = error;
    return { status: statusCode, message, requestId };
  }
  if (error instanceof Unreachable) return { status: 0, message: error.reason };
  if (error instanceof DOMException && error.name === 'AbortError') return LEFT;
  throw error;
};

/**
 * The reason if the desk ended while a request was under way: that must not look like a failure.
 */
const LEFT: LoadFailure = { status: 0, message: 'the desk was closed' };
