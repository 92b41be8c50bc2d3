import { inThread } from '../../kernel/threadtask.js';
import { untilAborted } from './apart.js';
import { type PageClient, PageFailed } from './request.js';
import type { RobotsTask } from './robotsthread.js';

const FILE = new URL('./robotsthread.js', import.meta.url);
/** Ours: a file is kept so long; RFC 9309 allows a day. */
const KEPT_MS = 60 * 60_000;
const MOST_HOSTS = 1_000;
/** The characters of a file that are read: RFC 9309 demands 500 KiB. */
const LONGEST = 512 * 1024;
/** Ours: a file was measured that takes 3 s, with rules made for that. */
const LIMIT_MS = 3_000;

/** The rules of a host: the text of its file, or why nothing may be read. */
type HostRules = { text: string } | { refusal: string };

/**
 * Creates the function that asks the robots.txt of an address's host (RFC 9309). It resolves to null
 * if the address may be read, otherwise to a sentence that says why not. `getPage` gets the files, at
 * its own pace.
 */
export const createRobots = (getPage: PageClient, now: () => number) => {
  const kept = new Map<string, { rules: Promise<HostRules>; until: number }>();

  const fetched = async (origin: string): Promise<HostRules> => {
    try {
      // A job that is cancelled must not end a request for which others wait: it ends by itself.
      const { body } = await getPage(`${origin}/robots.txt`, new AbortController().signal);
      return { text: new TextDecoder().decode(body).slice(0, LONGEST) };
    } catch (error) {
      if (!(error instanceof PageFailed)) throw error;
      const isMissing = error.status !== null && error.status >= 400 && error.status < 500;
      return isMissing
        ? { text: '' }
        : { refusal: `its robots.txt did not come: ${error.message}` };
    }
  };

  const rulesOf = (origin: string): Promise<HostRules> => {
    const known = kept.get(origin);
    if (known && known.until > now()) return known.rules;
    const rules = fetched(origin);
    kept.delete(origin);
    kept.set(origin, { rules, until: now() + KEPT_MS });
    for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size - MOST_HOSTS))) {
      kept.delete(oldest);
    }
    const forget = (): void => void kept.delete(origin);
    rules.then((got) => 'refusal' in got && forget(), forget);
    return rules;
  };

  return async (url: string, signal: AbortSignal): Promise<string | null> => {
    const { origin } = new URL(url);
    const rules = await untilAborted(rulesOf(origin), signal);
    if ('refusal' in rules) return rules.refusal;
    if (rules.text.trim() === '') return null;
    return (await isAllowed({ origin, text: rules.text, url }, signal))
      ? null
      : 'its robots.txt does not allow it';
  };
};

/** Judges in a thread, so that a file of hostile rules holds up nothing else. */
const isAllowed = async (input: RobotsTask, signal: AbortSignal): Promise<boolean> => {
  const failure = 'its robots.txt is too complex';
  try {
    return await inThread<boolean>({ file: FILE, input, limitMs: LIMIT_MS, signal, failure });
  } catch {
    signal.throwIfAborted();
    return false;
  }
};
