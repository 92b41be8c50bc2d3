import { inThread } from '../../kernel/threadtask.js';
import { untilAborted } from './pageworker.js';
import { type PageClient, PageFailed } from './request.js';
import type { RobotsTask } from './robotsthread.js';

const FILE = new URL('./robotsthread.js', import.meta.url);
/** RFC 9309 allows up to a day. */
const KEPT_MS = 60 * 60_000;
const MAX_HOSTS = 1_000;
const MAX_CHARS = 16 * 1024 * 1024;
/** Maximum size of a file. RFC 9309 requires at least 500 KiB. */
const MAX_BYTES = 512 * 1024;
/** Requests for robots.txt are shared by all users. */
const ALL_USERS = '';
/** A hostile file was measured with 3 s. */
const LIMIT_MS = 3_000;

type HostRules = { text: string } | { refusal: string };

interface CachedRules {
  rules: Promise<HostRules>;
  until: number;
  chars: number;
}

/**
 * Returns a function that checks the robots.txt of a host (RFC 9309). It resolves to null if the
 * address may be read, otherwise to the reason.
 */
export const createRobots = (getPage: PageClient, now: () => number) => {
  const cache = new Map<string, CachedRules>();

  const fetched = async (origin: string): Promise<HostRules> => {
    try {
      // Other jobs may wait for the same request, so a cancelled job must not abort it.
      const { signal } = new AbortController();
      const asker = { userId: ALL_USERS, signal, enoughBytes: MAX_BYTES };
      const { body } = await getPage(`${origin}/robots.txt`, asker);
      return { text: new TextDecoder().decode(body.subarray(0, MAX_BYTES)) };
    } catch (error) {
      if (!(error instanceof PageFailed)) throw error;
      const isMissing = error.status !== null && error.status >= 400 && error.status < 500;
      return isMissing
        ? { text: '' }
        : { refusal: `its robots.txt could not be fetched: ${error.message}` };
    }
  };

  const trim = (): void => {
    let chars = 0;
    for (const each of cache.values()) chars += each.chars;
    for (const [oldest, each] of cache) {
      if (cache.size <= MAX_HOSTS && chars <= MAX_CHARS) return;
      cache.delete(oldest);
      chars -= each.chars;
    }
  };

  const rulesOf = (origin: string): Promise<HostRules> => {
    const known = cache.get(origin);
    if (known && known.until > now()) return known.rules;
    const rules = fetched(origin);
    cache.delete(origin);
    const entry: CachedRules = { rules, until: now() + KEPT_MS, chars: 0 };
    cache.set(origin, entry);
    trim();
    const forget = (): void => void (cache.get(origin) === entry && cache.delete(origin));
    rules.then((got) => {
      if ('refusal' in got) return forget();
      entry.chars = got.text.length;
      trim();
    }, forget);
    return rules;
  };

  return async (url: string, signal: AbortSignal): Promise<string | null> => {
    const { origin } = new URL(url);
    const rules = await untilAborted(rulesOf(origin), signal);
    if ('refusal' in rules) return rules.refusal;
    if (rules.text.trim() === '') return null;
    return (await isAllowed({ origin, text: rules.text, url }, signal))
      ? null
      : 'its robots.txt disallows it';
  };
};

/** Runs in a thread, so that hostile rules do not block the daemon. */
const isAllowed = async (input: RobotsTask, signal: AbortSignal): Promise<boolean> => {
  const failure = 'its robots.txt is too complex';
  try {
    return await inThread<boolean>({ file: FILE, input, limitMs: LIMIT_MS, signal, failure });
  } catch {
    signal.throwIfAborted();
    return false;
  }
};
