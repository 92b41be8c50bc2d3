import { createContext, useContext, useEffect, useSyncExternalStore } from 'react';
import type { PageNeed } from '../page.js';
import type { Painter } from '../painter.js';
import type { Feed } from '../state/feed.js';
import type { DeskStore, State } from '../state/state.js';
import { want } from '../state/want.js';

/** The services that the components of a screen use. */
export interface DeskContext {
  store: DeskStore;
  feed: Feed;
  /** The painter; null if Ink draws by itself, as in tests. */
  painter: Painter | null;
}

export const Desk = createContext<DeskContext | null>(null);

export const useDesk = (): DeskContext => {
  const desk = useContext(Desk);
  if (!desk) throw new Error('A part stands outside of its desk');
  return desk;
};

/** Returns a part of the state. The component renders again when that part changes. */
export const useKnown = <T>(select: (state: State) => T): T => {
  const { store } = useDesk();
  return useSyncExternalStore(
    (tell) => store.subscribe(select, tell),
    () => select(store.get()),
  );
};

/** Loads, and subscribes to, the need while the component is mounted. */
export const useNeed = (need: PageNeed): void => {
  const { feed } = useDesk();
  const key = JSON.stringify(need);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says all that a need says
  useEffect(() => want(feed, need), [feed, key]);
};
