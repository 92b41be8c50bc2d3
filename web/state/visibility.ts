import { useCallback, useEffect, useRef } from 'preact/hooks';

/** Hook: a function that acts at once, or, on a page that nobody sees, once when it is shown again. */
export const useWhenShown = (act: () => void): (() => void) => {
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
