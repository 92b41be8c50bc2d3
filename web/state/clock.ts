import { useEffect, useState } from 'preact/hooks';

export const timeNow = (): number => Date.now();

/** Hook: the current time, updated every `everyMs` milliseconds while the page is visible. */
export const useTime = (everyMs: number): number => {
  const [now, setNow] = useState(timeNow);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || setNow(timeNow()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
};
