/** A store: a state, and the only way to change it. */
export interface ReducerStore<S, A> {
  get(): S;
  /** Applies an action at once; for the effects of keys. */
  dispatch(action: A): void;
  /**
   * Applies an action at the next beat, together with the others that arrive until then; for events
   * of the socket.
   */
  queue(action: A): void;
  /** Calls `onChange` each time the selected part has changed. */
  subscribe<T>(select: (state: S) => T, onChange: (selected: T) => void): () => void;
  /** Stops the beat. */
  close(): void;
}

export interface ReducerStoreOptions<A> {
  beatMs?: number;
  /**
   * Joins two queued actions, of which the second directly follows the first, into one; null keeps
   * them apart.
   */
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
    // The queued actions came first, so they are applied first.
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
export const reached = <S, A>(
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
