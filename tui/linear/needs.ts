import type { PageNeed } from '../page.js';
import { screenPage } from '../screens.js';
import type { Knowledge } from '../state/knowledge.js';
import type { State } from '../state/state.js';
import { want } from '../state/want.js';

/** The needs of the page on top, and of what is announced by itself. */
export interface Needs {
  /**
   * Loads the lists of the page again if they are older than `FRESH_MS`, then waits like `settled`.
   */
  fresh(): Promise<void>;
  /**
   * Resolves once everything needed is known or has failed. What takes too long is announced as it
   * is.
   */
  settled(): Promise<void>;
  /** Ends all needs. */
  close(): void;
}

/** Needs on every page, for what is announced by itself. */
const ALWAYS: PageNeed[] = [
  { is: 'list', list: 'approvals', everyMs: 30_000 },
  { is: 'list', list: 'agents', everyMs: 10_000 },
  { is: 'list', list: 'hooks', everyMs: 60_000 },
  { is: 'overview', everyMs: 10_000 },
  { is: 'channel', channel: 'hook.execution' },
  { is: 'channel', channel: 'agent.status' },
];
const FRESH_MS = 100;
const LONGEST_MS = 10_000;
/**
 * Known data may lead to further needs, such as the messages of an agent's session: at most this
 * many rounds of them.
 */
const MOST_ROUNDS = 3;

export const openNeeds = ({ store, feed }: Knowledge, now: () => number): Needs => {
  const held = new Map<string, () => void>();
  let isClosed = false;

  /** Begins the new needs and ends the old ones. Returns true if there were new ones. */
  const hold = (): boolean => {
    if (isClosed) return false;
    const wanted = new Map(needsIn(store.get()).map((need) => [JSON.stringify(need), need]));
    for (const [key, end] of held) {
      if (wanted.has(key)) continue;
      end();
      held.delete(key);
    }
    const fresh = [...wanted].filter(([key]) => !held.has(key));
    for (const [key, need] of fresh) held.set(key, want(feed, need));
    return fresh.length > 0;
  };
  const isKnown = (state: State): boolean => needsIn(state).every((need) => isSettled(state, need));
  const known = (): Promise<void> =>
    new Promise((resolve) => {
      if (isKnown(store.get())) return resolve();
      const timer = setTimeout(() => end(), LONGEST_MS);
      const stop = store.subscribe(isKnown, () => end());
      const end = (): void => {
        clearTimeout(timer);
        stop();
        resolve();
      };
    });

  /** Loads the lists of the page again, unless they were loaded just now or are being loaded. */
  const refresh = (): void => {
    const { lists, session } = store.get();
    if (session.link.is !== 'live') return;
    const needs = screenPage(store.get()).needs(store.get());
    const names = needs.flatMap((need) => (need.is === 'list' ? need.list : []));
    for (const name of new Set(names)) {
      const { askedAt, loadedAt } = lists[name];
      if (askedAt === null && loadedAt !== null && now() - loadedAt > FRESH_MS) {
        void feed.reload(name);
      }
    }
  };
  const settled = async (): Promise<void> => {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      await known();
      if (!hold()) return;
    }
  };
  return {
    fresh: () => {
      refresh();
      hold();
      return settled();
    },
    settled: () => {
      hold();
      return settled();
    },
    close: () => {
      isClosed = true;
      for (const end of held.values()) end();
      held.clear();
    },
  };
};

const needsIn = (state: State): PageNeed[] => [...ALWAYS, ...screenPage(state).needs(state)];

const isSettled = ({ lists, overview }: State, need: PageNeed): boolean => {
  if (need.is === 'overview') return overview.known !== null || overview.trouble !== null;
  if (need.is !== 'list') return true;
  const list = lists[need.list];
  const isAnswered = list.loadedAt !== null || list.trouble !== null;
  return list.of === (need.of ?? null) && list.askedAt === null && isAnswered;
};
