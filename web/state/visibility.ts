import { useCallback, useEffect, useRef } from 'preact/hooks';

/** Hook: calls `act` at once, or, on a hidden page, once when it is visible again. */
export const useWhenVisible = (act: () => void): (() => void) => {
  const latest = useRef(act);
  latest.current = act;
  const isOwed = useRef(false);
  useEffect(() => {
    const shown = (): void => {
      if (!isOwed.current || document.hidden) return;
      isOwed.current = false;
      latest.current();
    };
    document.addEventListener('visibilitychange', shown);
    return () => document.removeEventListener('visibilitychange', shown);
  }, []);
  return useCallback(() => {
    if (document.hidden) isOwed.current = true;
    else latest.current();
  }, []);
};
