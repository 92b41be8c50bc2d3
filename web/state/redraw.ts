import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { timeNow } from './clock.js';

/** Minimum time between two redraws, in milliseconds. Events can arrive by the hundred. */
const EVERY_MS = 100;

/** Hook: redraws the view, at most ten times a second. */
export const useRedraw = (): (() => void) => {
  const [, setCount] = useState(0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const drawnAt = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback(() => {
    timer.current ??= setTimeout(
      () => {
        timer.current = undefined;
        drawnAt.current = timeNow();
        setCount((count) => count + 1);
      },
      Math.max(0, drawnAt.current + EVERY_MS - timeNow()),
    );
  }, []);
};
