import { useEffect, useState } from 'preact/hooks';
import { after, type CancelTimer } from './clock.js';

/** Time without a click after which a view counts as seen, in milliseconds. */
const SETTLED_MS = 1000;

/**
 * Hook: true once the content with that key has been shown for a second without a click anywhere,
 * and again after the window got the focus. An earlier tap is meant for the previous content and
 * restarts the second.
 */
export const useDoubleTapGuard = (key: string): boolean => {
  const [settled, setSettled] = useState<string | null>(null);
  useEffect(() => {
    let cancel: CancelTimer | undefined;
    const begin = (): void => {
      cancel?.();
      cancel = after(SETTLED_MS, () => {
        cancel = undefined;
        setSettled(key);
      });
    };
    const clicked = (): void => {
      if (cancel !== undefined) begin();
    };
    const returned = (): void => {
      if (document.hidden) return;
      setSettled(null);
      begin();
    };
    begin();
    document.addEventListener('click', clicked, true);
    document.addEventListener('visibilitychange', returned);
    addEventListener('focus', returned);
    return () => {
      cancel?.();
      document.removeEventListener('click', clicked, true);
      document.removeEventListener('visibilitychange', returned);
      removeEventListener('focus', returned);
    };
  }, [key]);
  return settled === key;
};
