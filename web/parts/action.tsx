import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RequestError } from '../state/api.js';
import { liveState } from '../state/live.js';
import { asRequestError } from '../state/load.js';

/** Work started by a button, one at a time, with its failure. */
export interface Action {
  isBusy: boolean;
  error: RequestError | null;
  run(work: () => Promise<unknown>): Promise<void>;
}

/**
 * Hook: an action. A second click during the work does nothing. A connection error is shown until
 * the daemon is reachable again.
 */
export const useAction = (): Action => {
  const [isBusy, setBusy] = useState(false);
  /** True from the click on, before the view is drawn again. */
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

/** Drops the failure of a call that did not reach the daemon. */
const unlessUnreached = (error: RequestError | null): RequestError | null =>
  error?.status === 0 ? null : error;

/** `kind` is the weight: the main action, or a destructive one. */
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
  /** Whether a click does nothing. */
  isOff?: boolean;
  /** Id of the element that describes it. */
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
