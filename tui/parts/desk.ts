import { createContext, useContext, useSyncExternalStore } from 'react';
import type { Painter } from '../painter.js';
import type { Feed } from '../state/feed.js';
import type { DeskStore, State } from '../state/state.js';

/** The services that the components of a screen use. */
export interface DeskContext {
  store: DeskStore;
  feed: Feed;
  painter: Painter;
}

export const Desk = createContext<DeskContext | null>(null);

export const useDesk = (): DeskContext => {
  const desk = useContext(Desk);
  if (!desk) throw new Error('useDesk needs a Desk provider around it');
  return desk;
};

/** Returns a part of the state. The component renders again when that part changes. */
export const useDeskState = <T>(select: (state: State) => T): T => {
  const { store } = useDesk();
  return useSyncExternalStore(
    (tell) => store.subscribe(select, tell),
    () => select(store.get()),
  );
};
