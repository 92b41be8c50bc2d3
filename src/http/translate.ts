import Boom from '@hapi/boom';
import { PoolFull, ThreadTerminated } from '../kernel/pool.js';
import { Unavailable } from '../store/engine/protocol.js';

const RETRY_AFTER_S = 5;

export const translate = (error: Error): Boom.Boom | null => {
  const retryAfter = RETRY_AFTER_S;
  if (error instanceof Unavailable) {
    const message = error.isDiskFull
      ? 'The disk of the daemon is full. Nothing was changed. Make room on it'
      : 'The database is not writable now. Nothing was changed';
    return Boom.serverUnavailable(message, { code: 'storage_unavailable', retryAfter });
  }
  if (error instanceof PoolFull || error instanceof ThreadTerminated) {
    const message = 'The body could not be parsed now. Nothing was changed. Send it again';
    return Boom.serverUnavailable(message, { code: 'body_not_read', retryAfter });
  }
  return null;
};
