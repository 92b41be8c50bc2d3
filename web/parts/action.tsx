import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RequestError } from '../state/api.js';
import { liveState } from '../state/live.js';
import { asRequestError } from '../state/load.js';

/** Work that a button begins: one at a time, with its failure. */
export interface Action {
  isBusy: boolean;
  error: RequestError | null;
  run(work: () => Promise<unknown>): Promise<void>;
}

/**
 * Hook: an action. A second click while the first one works does nothing. That the daemon could not
 * be reached is said until it can be again.
 */
export const useAction = (): Action => {
  const [isBusy, setBusy] = useState(false);
  /** True already in the click after which the view is drawn again. */
  const isAtWork = useRef(false);
  const [error, setError] = useState<RequestError | null>(null);
  useEffect(() => liveState.follow((state) => state === 'online' && setError(unlessUnreached)), []);
  return {
    isBusy,
    error,
    run: async (work) => {
      if (isAtWork.current) return;
      isAtWork.current = true;
      setBusy(true);
      setError(null);
      try {
        await work();
      } catch (failure) {
        setError(asRequestError(failure));
      } finally {
        isAtWork.current = false;
        setBusy(false);
      }
    },
  };
};

/** Drops the failure of a call that never came to the daemon. */
const unlessUnreached = (error: RequestError | null): RequestError | null =>
  error?.status === 0 ? null : error;

/** A button of an action. `kind` is its weight: the main thing to do, or one that removes. */
export const Button = ({
  action,
  work,
  kind = '',
  isOff = false,
  describedBy,
  children,
}: {
  action: Action;
  work(): Promise<unknown>;
  kind?: 'main' | 'danger' | '';
  /** True while a click does nothing. */
  isOff?: boolean;
  /** The id of what says more about it. */
  describedBy?: string;
  children: ComponentChildren;
}) => (
  <button
    type="button"
    class={kind}
    aria-disabled={isOff || action.isBusy}
    aria-describedby={describedBy}
    onClick={() => {
      if (!isOff) void action.run(work);
    }}
  >
    {children}
  </button>
);
