import { type Cancel, type Clock, systemClock } from '../../src/kernel/clock.js';

/** A store: a state, and the only way to change it. */
export interface ReducerStore<S, A> {
  get(): S;
  dispatch(action: A): void;
  /** Applies an action at the next beat, together with others. For socket events. */
  queue(action: A): void;
  /** Calls `onChange` when the selected part changes. */
  subscribe<T>(select: (state: S) => T, onChange: (selected: T) => void): () => void;
  close(): void;
}

export interface ReducerStoreOptions<A> {
  clock?: Clock;
  /** Joins two consecutive queued actions into one. `null` keeps them separate. */
  join?(first: A, next: A): A | null;
}

const BEAT_MS = 66;

export const createStore = <S, A>(
  reduce: (state: S, action: A) => S,
  initial: S,
  { clock = systemClock, join = () => null }: ReducerStoreOptions<A> = {},
): ReducerStore<S, A> => {
  let state = initial;
  let waiting: A[] = [];
  let cancel: Cancel | undefined;
  const listeners = new Set<() => void>();

  const apply = (actions: A[]): void => {
    const before = state;
    state = actions.reduce(reduce, state);
    if (state !== before) for (const tell of listeners) tell();
  };
  const flush = (): void => {
    cancel = undefined;
    const actions = waiting;
    waiting = [];
    apply(actions);
  };
  return {
    get: () => state,
    // Queued actions came first.
    dispatch: (action) => {
      const actions = [...waiting, action];
      waiting = [];
      apply(actions);
    },
    queue: (action) => {
      const last = waiting.at(-1);
      const one = last === undefined ? null : join(last, action);
      if (one === null) waiting.push(action);
      else waiting[waiting.length - 1] = one;
      cancel ??= clock.after(BEAT_MS, flush);
    },
    subscribe: (select, onChange) => {
      let last = select(state);
      const tell = (): void => {
        const next = select(state);
        if (Object.is(next, last)) return;
        last = next;
        onChange(next);
      };
      listeners.add(tell);
      return () => void listeners.delete(tell);
    },
    close: () => cancel?.(),
  };
};

/** Resolves once the state passes the test, or after that many milliseconds. */
export const waitForState = <S, A>(
  { get, subscribe }: ReducerStore<S, A>,
  isReached: (state: S) => boolean,
  { mostMs, clock }: { mostMs: number; clock: Clock },
): Promise<void> =>
  new Promise((resolve) => {
    if (isReached(get())) return resolve();
    const cancel = clock.after(mostMs, () => end());
    const stop = subscribe(isReached, () => end());
    const end = (): void => {
      cancel();
      stop();
      resolve();
    };
  });
