import type { PageNeed } from '../page.js';
import { screenPage } from '../screens.js';
import type { DeskState } from '../state/deskstate.js';
import { createNeedHolder } from '../state/needs.js';
import type { State } from '../state/state.js';
import { reached } from '../state/store.js';

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
const MAX_MS = 10_000;
/**
 * Known data may lead to further needs, such as the messages of an agent's session: at most this
 * many rounds of them.
 */
const MAX_ROUNDS = 3;

/** The needs of the page on top, and of what is announced by itself. */
export type Needs = ReturnType<typeof openNeeds>;

export const openNeeds = ({ store, feed, now }: DeskState) => {
  const holdNeeds = createNeedHolder(feed);
  let isClosed = false;

  const hold = (): boolean => !isClosed && holdNeeds(needsIn(store.get()));
  const isKnown = (state: State): boolean => needsIn(state).every((need) => isSettled(state, need));

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
  /**
   * Resolves once everything needed is known or has failed. What takes too long is announced as it
   * is.
   */
  const settled = async (): Promise<void> => {
    hold();
    for (let round = 0; round < MAX_ROUNDS; round++) {
      await reached(store, isKnown, MAX_MS);
      if (!hold()) return;
    }
  };
  return {
    /**
     * Loads the lists of the page again if they are older than `FRESH_MS`, then waits like
     * `settled`.
     */
    fresh: (): Promise<void> => {
      refresh();
      return settled();
    },
    settled,
    /** Ends all needs. */
    close: (): void => {
      isClosed = true;
      holdNeeds([]);
    },
  };
};

const needsIn = (state: State): PageNeed[] => [...ALWAYS, ...screenPage(state).needs(state)];

const isSettled = ({ lists, overview }: State, need: PageNeed): boolean => {
  if (need.is === 'overview') return overview.known !== null || overview.trouble !== null;
  if (need.is !== 'list') return true;
  const list = lists[need.list];
  const isLoaded = list.loadedAt !== null || list.trouble !== null;
  return list.of === (need.of ?? null) && list.askedAt === null && isLoaded;
};
