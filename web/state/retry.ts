import { useEffect, useRef } from 'preact/hooks';
import type { RequestError } from './api.js';
import { after } from './clock.js';

const FIRST_PAUSE_MS = 2000;
const MAX_PAUSE_MS = 30_000;

/** Whether a retry may succeed: no reply, too many requests, or a server error. */
const isPassing = ({ status }: RequestError): boolean =>
  status === 0 || status === 429 || status >= 500;

/** Hook: retries after a temporary failure, with growing pauses. */
export const useRetry = (error: RequestError | null, load: () => void): void => {
  const latest = useRef(load);
  latest.current = load;
  const pause = useRef(FIRST_PAUSE_MS);
  useEffect(() => {
    if (error === null) pause.current = FIRST_PAUSE_MS;
    if (error === null || !isPassing(error)) return;
    const cancel = after(pause.current, () => latest.current());
    pause.current = Math.min(pause.current * 2, MAX_PAUSE_MS);
    return cancel;
  }, [error]);
};
