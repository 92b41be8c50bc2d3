import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { timeNow } from './clock.js';

/** Events can come by the hundred; the eye needs no more than ten pictures a second. */
const EVERY_MS = 100;

/** Hook: a function that draws the view again, at most ten times a second however often it is called. */
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
