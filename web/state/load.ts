import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { RequestError } from './api.js';
import { after, type CancelTimer, timeNow } from './clock.js';
import { useTopics } from './live.js';
import { useRetry } from './retry.js';

/** Data of a view. After a failure it keeps the earlier data. */
export interface Loaded<T> {
  data: T | null;
  error: RequestError | null;
  isLoading: boolean;
  /** Resolves when the reload has ended. */
  reload(): Promise<void>;
  /** Replaces the data by the reply of a call. */
  replace(next: T): void;
}

/** Events within this time cause one load, in milliseconds. */
const TOGETHER_MS = 150;
/** Pause after a load caused by an event, in milliseconds. Doubled with each further one. */
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 8000;

interface Source<T> {
  /** Identifies the loaded data: the id in the path, the filter. */
  key: string;
  load(signal: AbortSignal): Promise<T>;
  /** Topics of `/ws` whose events change the data. */
  topics?: readonly string[];
  /** Whether an event on those topics changes the data. Defaults to every event. */
  concerns?(event: unknown): boolean;
}

/** Hook: loads data now, and again when an event on its topics reports a change. */
export const useLoad = <T>({ key, load, topics = [], concerns }: Source<T>): Loaded<T> => {
  const [state, setState] = useState<Pick<Loaded<T>, 'data' | 'error' | 'isLoading'>>(EMPTY);
  const latest = useRef(load);
  latest.current = load;
  const running = useRef<AbortController | null>(null);
  const reload = useCallback(async () => {
    running.current?.abort();
    const control = new AbortController();
    running.current = control;
    setState((before) => ({ ...before, isLoading: true }));
    try {
      const data = await latest.current(control.signal);
      if (!control.signal.aborted) setState({ data, error: null, isLoading: false });
    } catch (error) {
      if (control.signal.aborted) return;
      setState(({ data }) => ({ data, error: asRequestError(error), isLoading: false }));
    }
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another key is another thing to load
  useEffect(() => {
    setState(EMPTY);
    void reload();
    return () => running.current?.abort();
  }, [key, reload]);
  const soon = useSoon(() => void reload());
  useTopics(topics, (event) => (concerns?.(event) ?? true) && soon(), soon);
  useRetry(state.error, soon);
  const replace = useCallback((data: T) => {
    running.current?.abort();
    setState({ data, error: null, isLoading: false });
  }, []);
  return { ...state, reload, replace };
};

const EMPTY = { data: null, error: null, isLoading: true };

/**
 * Hook: calls `act` soon, once for all calls until then. Continuous calls act less and less often,
 * so that many events cost the daemon little. A hidden page waits until it is visible.
 */
const useSoon = (act: () => void): (() => void) => {
  const latest = useRef(act);
  latest.current = act;
  const pace = useRef<LoadPace | null>(null);
  pace.current ??= createPace(() => latest.current());
  useEffect(() => {
    const shown = () => pace.current?.shown();
    document.addEventListener('visibilitychange', shown);
    return () => {
      document.removeEventListener('visibilitychange', shown);
      pace.current?.stop();
    };
  }, []);
  return pace.current.call;
};

interface LoadPace {
  call(): void;
  /** Catches up when the page is visible again. */
  shown(): void;
  stop(): void;
}

const createPace = (act: () => void): LoadPace => {
  let cancel: CancelTimer | undefined;
  let notBefore = 0;
  let pause = FIRST_PAUSE_MS;
  let isOwed = false;
  const run = (): void => {
    cancel = undefined;
    isOwed = document.hidden;
    if (isOwed) return;
    notBefore = timeNow() + pause;
    pause = Math.min(pause * 2, MAX_PAUSE_MS);
    act();
  };
  return {
    call: () => {
      if (cancel !== undefined || isOwed) return;
      const now = timeNow();
      if (now > notBefore + MAX_PAUSE_MS) pause = FIRST_PAUSE_MS;
      cancel = after(Math.max(TOGETHER_MS, notBefore - now), run);
    },
    shown: () => {
      if (isOwed && !document.hidden) run();
    },
    stop: () => cancel?.(),
  };
};

export const asRequestError = (error: unknown): RequestError =>
  error instanceof RequestError ? error : new RequestError(String(error), 0, undefined);
