import type { PageNeed } from '../page.js';
import { screenPage } from '../screens.js';
import type { DeskState } from '../state/deskstate.js';
import { createNeedHolder } from '../state/needs.js';
import type { State } from '../state/state.js';
import { waitForState } from '../state/store.js';

/** Data needed on every page for automatic announcements. */
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
 * Loaded data may cause further needs, such as the messages of an agent's session. Maximum number
 * of such rounds.
 */
const MAX_ROUNDS = 3;

export type Needs = ReturnType<typeof openNeeds>;

export const openNeeds = ({ store, feed, clock }: DeskState) => {
  const holdNeeds = createNeedHolder({ feed, clock });
  let isClosed = false;

  const hold = (): boolean => !isClosed && holdNeeds(needsIn(store.get()));
  const isKnown = (state: State): boolean => needsIn(state).every((need) => isSettled(state, need));

  /** Reloads the lists of the page, unless they are fresh or being loaded. */
  const refresh = (): void => {
    const { lists, session } = store.get();
    if (session.link.is !== 'live') return;
    const needs = screenPage(store.get()).needs(store.get());
    const names = needs.flatMap((need) => (need.is === 'list' ? need.list : []));
    for (const name of new Set(names)) {
      const { askedAt, loadedAt } = lists[name];
      if (askedAt === null && loadedAt !== null && clock.now() - loadedAt > FRESH_MS) {
        void feed.reload(name);
      }
    }
  };
  /** Resolves once all needed data is loaded or failed, or `MAX_MS` has passed. */
  const settled = async (): Promise<void> => {
    hold();
    for (let round = 0; round < MAX_ROUNDS; round++) {
      await waitForState(store, isKnown, { mostMs: MAX_MS, clock });
      if (!hold()) return;
    }
  };
  return {
    /** Reloads lists older than `FRESH_MS`, then waits like `settled`. */
    fresh: (): Promise<void> => {
      refresh();
      return settled();
    },
    settled,
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
