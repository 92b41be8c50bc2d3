import { version } from './version.js';

export const olderDaemon = (found: string, url: string, own = version()): string | null =>
  isOlder(found, own)
    ? `The daemon at ${url} runs Adjutant ${found}, which is older than this version (${own}).`
    : null;

export const RESTART_ADVICE = 'Restart the daemon with this version: adjutant restart';

/** False if either is not a version. */
const isOlder = (found: string, own: string): boolean => {
  const [a, b] = [found, own].map((each) =>
    /^\d+\.\d+\.\d+/.exec(each)?.[0].split('.').map(Number),
  );
  if (!a || !b) return false;
  const at = a.findIndex((number, index) => number !== b[index]);
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
};
