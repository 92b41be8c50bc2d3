import { ApiError } from '../src/client/errors.js';
import { versionIn } from '../src/client/recognize.js';
import { send } from '../src/client/send.js';
import { type Fault, failed } from './exit.js';
import { oneLine } from './text.js';
import { version } from './version.js';

const TIMEOUT_MS = 2000;

/** Says that the daemon is older than this package; null where it is not. */
export const olderDaemon = (found: string, url: string, own = version()): string | null =>
  isOlder(found, own)
    ? `The daemon at ${url} is Adjutant ${oneLine(found)}, older than this one (${own}).`
    : null;

/** What to do about it. */
export const RENEW = 'Start it on this version: adjutant restart';

/**
 * Why a command came to grief that an older daemon does not know: no such route, a field that it does
 * not take, a reply that lacks something. Null: the reason is another. Never throws.
 */
export const skewFault = async (error: unknown, url: () => string): Promise<Fault | null> => {
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

/** Of `1.2.3`, each number in turn; what is none is older than nothing. */
const isOlder = (found: string, own: string): boolean => {
  const [a, b] = [found, own].map((each) =>
    /^\d+\.\d+\.\d+/.exec(each)?.[0].split('.').map(Number),
  );
  if (!a || !b) return false;
  const at = a.findIndex((number, index) => number !== b[index]);
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
};
