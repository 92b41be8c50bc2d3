import { version } from './version.js';

/** Says that the daemon is older than this package; null where it is not. */
export const olderDaemon = (found: string, url: string, own = version()): string | null =>
  isOlder(found, own)
    ? `The daemon at ${url} is Adjutant ${found}, older than this one (${own}).`
    : null;

/** What to do about it. */
export const RENEW = 'Start it on this version: adjutant restart';

/** Of `1.2.3`, each number in turn; what is none is older than nothing. */
const isOlder = (found: string, own: string): boolean => {
  const [a, b] = [found, own].map((each) =>
    /^\d+\.\d+\.\d+/.exec(each)?.[0].split('.').map(Number),
  );
  if (!a || !b) return false;
  const at = a.findIndex((number, index) => number !== b[index]);
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
};
