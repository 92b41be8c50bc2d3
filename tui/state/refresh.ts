import type { ListName } from './rows.js';

/** Ours: the least time between two loads of a list of whose changes the socket tells, in milliseconds. */
const GAP_MS = 400;

/** The loading of lists that change often. */
export type ListRefresh = ReturnType<typeof createRefresh>;

interface RefreshDeps {
  reload(name: ListName): Promise<void>;
  /** True while a screen needs the list. */
  isWanted(name: ListName): boolean;
}

/**
 * Creates the loading of lists that change often: a list is never loaded twice at once, and what
 * changes meanwhile is loaded afterwards.
 */
export const createRefresh = ({ reload, isWanted }: RefreshDeps) => {
  const busy = new Map<ListName, 'once' | 'again'>();
  const timers = new Set<NodeJS.Timeout>();

  const begin = async (name: ListName): Promise<void> => {
    busy.set(name, 'once');
    await reload(name);
    const timer = setTimeout(() => {
      timers.delete(timer);
      const isAgain = busy.get(name) === 'again';
      busy.delete(name);
      if (isAgain) refresh(name);
    }, GAP_MS);
    timers.add(timer);
  };
  const refresh = (name: ListName): void => {
    if (busy.has(name)) busy.set(name, 'again');
    else if (isWanted(name)) void begin(name);
  };
  return {
    soon: refresh,
    close: (): void => {
      for (const timer of timers) clearTimeout(timer);
    },
  };
};
