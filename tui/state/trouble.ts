import { ApiError, Unreachable } from '../../src/client/errors.js';
import type { Trouble } from './lists.js';

/** What a call came to grief with; what is no answer of the daemon's is thrown on. */
export const troubleOf = (error: unknown): Trouble => {
  if (error instanceof ApiError) {
    const { statusCode, message, requestId } = error;
    return { status: statusCode, message, requestId };
  }
  if (error instanceof Unreachable) return { status: 0, message: error.reason };
  if (error instanceof DOMException && error.name === 'AbortError') return LEFT;
  throw error;
};

/** The desk ended while an answer was awaited: it must not end as if something had broken. */
const LEFT: Trouble = { status: 0, message: 'the desk was left' };
