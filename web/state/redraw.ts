import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { after, type CancelTimer, timeNow } from './clock.js';

/** Minimum time between two redraws, in milliseconds. Events can arrive by the hundred. */
const EVERY_MS = 100;

/** Hook: redraws the view, at most ten times a second. */
export const useRedraw = (): (() => void) => {
  const [, setCount] = useState(0);
  const cancel = useRef<CancelTimer | undefined>(undefined);
  const drawnAt = useRef(0);
  useEffect(() => () => cancel.current?.(), []);
  return useCallback(() => {
    cancel.current ??= after(Math.max(0, drawnAt.current + EVERY_MS - timeNow()), () => {
      cancel.current = undefined;
      drawnAt.current = timeNow();
      setCount((count) => count + 1);
    });
  }, []);
};
