import { ApiError } from '../src/client/errors.js';
import { versionIn } from '../src/client/recognize.js';
import { send } from '../src/client/send.js';
import { olderDaemon, RENEW } from '../src/client/skew.js';
import { version } from '../src/client/version.js';
import { type CliFault, failed } from './exit.js';

const TIMEOUT_MS = 2000;

/**
 * Explains the failure of a command that an older daemon does not know: no such route, a field that
 * it does not take, a reply that lacks something. Null: the reason is another. Never throws.
 */
export const skewFault = async (error: unknown, url: () => string): Promise<CliFault | null> => {
  if (!mayBeSkewed(error)) return null;
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const reply = await send(`${url()}/health`, { method: 'GET', headers: {}, signal });
    const said = olderDaemon(versionIn(await reply.text()) ?? version(), url());
    return said === null ? null : failed(said, RENEW);
  } catch {
    return null;
  }
};

const mayBeSkewed = (error: unknown): boolean => {
  if (!(error instanceof ApiError)) return error instanceof TypeError;
  if (error.statusCode === 400) return error.details.length > 0;
  // A thing that is not there is named; a route that is not there is not.
  return error.statusCode === 404 && error.message === 'Not Found';
};
