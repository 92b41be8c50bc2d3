/** All that is known, and the one way in which it changes. */
export interface ReducerStore<S, A> {
  get(): S;
  /** At once: what a key does. */
  dispatch(action: A): void;
  /** With the next beat, together with what else has come: what a socket says. */
  queue(action: A): void;
  /** Told whenever what is selected has changed. */
  subscribe<T>(select: (state: S) => T, told: (selected: T) => void): () => void;
  /** No beat any more. */
  close(): void;
}

export interface ReducerStoreOptions<A> {
  beatMs?: number;
  /** Two that wait, one behind the other, as one; null: they stay two. */
  join?(first: A, next: A): A | null;
}

const BEAT_MS = 66;

export const createStore = <S, A>(
  reduce: (state: S, action: A) => S,
  initial: S,
  { beatMs = BEAT_MS, join = () => null }: ReducerStoreOptions<A> = {},
): ReducerStore<S, A> => {
  let state = initial;
  let waiting: A[] = [];
  let timer: NodeJS.Timeout | undefined;
  const listeners = new Set<() => void>();

  const apply = (actions: A[]): void => {
    const before = state;
    state = actions.reduce(reduce, state);
    if (state !== before) for (const tell of listeners) tell();
  };
  const flush = (): void => {
    timer = undefined;
    const actions = waiting;
    waiting = [];
    apply(actions);
  };
  return {
    get: () => state,
    // What waits came first.
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
      timer ??= setTimeout(flush, beatMs);
    },
    subscribe: (select, told) => {
      let last = select(state);
      const tell = (): void => {
        const next = select(state);
        if (Object.is(next, last)) return;
        last = next;
        told(next);
      };
      listeners.add(tell);
      return () => void listeners.delete(tell);
    },
    close: () => clearTimeout(timer),
  };
};
