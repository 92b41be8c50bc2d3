import { useEffect, useState } from 'preact/hooks';

export const timeNow = (): number => Date.now();

export type CancelTimer = () => void;

/** Calls `due` once, after that many milliseconds. */
export const after = (ms: number, due: () => void): CancelTimer => {
  const timer = setTimeout(due, ms);
  return () => clearTimeout(timer);
};

export const wait = (ms: number): Promise<void> =>
  new Promise((resolve) => void after(ms, resolve));

/** Calls `due` each `ms` milliseconds. */
const every = (ms: number, due: () => void): CancelTimer => {
  const timer = setInterval(due, ms);
  return () => clearInterval(timer);
};

/** Hook: the current time, updated every `everyMs` milliseconds while the page is visible. */
export const useTime = (everyMs: number): number => {
  const [now, setNow] = useState(timeNow);
  useEffect(() => every(everyMs, () => document.hidden || setNow(timeNow())), [everyMs]);
  return now;
};
