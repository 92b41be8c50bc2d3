import { createContext, useContext, useSyncExternalStore } from 'react';
import type { Clock } from '../../src/kernel/clock.js';
import type { Painter } from '../painter.js';
import type { Feed } from '../state/feed.js';
import type { DeskStore, State } from '../state/state.js';

export interface DeskContext {
  store: DeskStore;
  feed: Feed;
  clock: Clock;
  painter: Painter;
}

export const Desk = createContext<DeskContext | null>(null);

export const useDesk = (): DeskContext => {
  const desk = useContext(Desk);
  if (!desk) throw new Error('useDesk needs a Desk provider around it');
  return desk;
};

/** The component renders again when the selected part changes. */
export const useDeskState = <T>(select: (state: State) => T): T => {
  const { store } = useDesk();
  return useSyncExternalStore(
    (tell) => store.subscribe(select, tell),
    () => select(store.get()),
  );
};
