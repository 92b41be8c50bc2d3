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
  beatMs?: number;
  /** Joins two consecutive queued actions into one. `null` keeps them separate. */
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
      timer ??= setTimeout(flush, beatMs);
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
    close: () => clearTimeout(timer),
  };
};

/** Resolves once the state passes the test, or after that many milliseconds. */
export const waitForState = <S, A>(
  { get, subscribe }: ReducerStore<S, A>,
  isReached: (state: S) => boolean,
  mostMs: number,
): Promise<void> =>
  new Promise((resolve) => {
    if (isReached(get())) return resolve();
    const timer = setTimeout(() => end(), mostMs);
    const stop = subscribe(isReached, () => end());
    const end = (): void => {
      clearTimeout(timer);
      stop();
      resolve();
    };
  });
