import type { Cancel, Clock } from '../../src/kernel/clock.js';
import type { ListName } from './rows.js';

/** Minimum time between two loads of a list after events of the socket, in milliseconds. */
const GAP_MS = 400;

export type ListRefresh = ReturnType<typeof createRefresh>;

interface RefreshDeps {
  clock: Clock;
  reload(name: ListName): Promise<void>;
  /** Whether a screen needs the list. */
  isWanted(name: ListName): boolean;
}

/**
 * Loads frequently changing lists. A list is never loaded twice at once; changes meanwhile cause
 * one more load.
 */
export const createRefresh = ({ clock, reload, isWanted }: RefreshDeps) => {
  const busy = new Map<ListName, 'once' | 'again'>();
  const timers = new Set<Cancel>();

  const begin = async (name: ListName): Promise<void> => {
    busy.set(name, 'once');
    await reload(name);
    const cancel = clock.after(GAP_MS, () => {
      timers.delete(cancel);
      const isAgain = busy.get(name) === 'again';
      busy.delete(name);
      if (isAgain) refresh(name);
    });
    timers.add(cancel);
  };
  const refresh = (name: ListName): void => {
    if (busy.has(name)) busy.set(name, 'again');
    else if (isWanted(name)) void begin(name);
  };
  return {
    soon: refresh,
    close: (): void => {
      for (const cancel of timers) cancel();
    },
  };
};
