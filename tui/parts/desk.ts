import { createContext, useContext, useEffect, useSyncExternalStore } from 'react';
import type { Need } from '../page.js';
import type { Painter } from '../painter.js';
import type { Feed } from '../state/feed.js';
import type { DeskStore, State } from '../state/state.js';

/** What the parts of a screen reach for. */
export interface Surroundings {
  store: DeskStore;
  feed: Feed;
  /** Null: Ink draws by itself, as in tests. */
  painter: Painter | null;
}

export const Desk = createContext<Surroundings | null>(null);

export const useDesk = (): Surroundings => {
  const desk = useContext(Desk);
  if (!desk) throw new Error('A part stands outside of its desk');
  return desk;
};

/** A part of what is known; draws again when that changes. */
export const useKnown = <T>(select: (state: State) => T): T => {
  const { store } = useDesk();
  return useSyncExternalStore(
    (tell) => store.subscribe(select, tell),
    () => select(store.get()),
  );
};

/** Reads and hears what is wanted while this part stands. */
export const useNeed = (need: Need): void => {
  const { feed } = useDesk();
  const key = JSON.stringify(need);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says all that a need says
  useEffect(() => begin(feed, need), [feed, key]);
};

const begin = (feed: Feed, need: Need): (() => void) => {
  if (need.is === 'channel') return feed.channels([need.channel]);
  if (need.is === 'agent') return feed.follow(need.id);
  if (need.is === 'overview') return feed.overview(need.everyMs);
  const { list, of = null, everyMs = null, afterMs = 0 } = need;
  let stop = (): void => {};
  const read = (): void => {
    stop = feed.list(list, of, everyMs);
  };
  const timer = setTimeout(read, afterMs);
  return () => {
    clearTimeout(timer);
    stop();
  };
};
