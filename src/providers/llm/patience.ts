import { ModelFailure } from './model.js';

/** How long a model may take, in milliseconds. */
export interface Patience {
  /** Until the first token. */
  firstTokenMs: number;
  /** Between one token and the next. */
  silenceMs: number;
  /** For all of an answer. */
  totalMs: number;
}

/**
 * Watches over one answer. What arrives may be no token at all (an endpoint that sends a sign of
 * life every few seconds), so the bounds of the connection do not suffice.
 */
export const watchOver = (name: string, { firstTokenMs, silenceMs, totalMs }: Patience) => {
  const end = new AbortController();
  const endAfter = (ms: number, what: string): NodeJS.Timeout =>
    setTimeout(() => end.abort(new ModelFailure('timeout', `${name} ${what}`)), ms);
  const total = endAfter(totalMs, `did not finish within ${totalMs / 1000} s`);
  let isFirst = true;
  let timer = endAfter(firstTokenMs, `sent no token within ${firstTokenMs / 1000} s`);

  return {
    /** Aborted with a ModelFailure as its reason. */
    signal: end.signal,
    /** A token came. */
    heard: (): void => {
      if (!isFirst) {
        timer.refresh();
        return;
      }
      isFirst = false;
      clearTimeout(timer);
      timer = endAfter(silenceMs, `fell silent for ${silenceMs / 1000} s`);
    },
    stop: (): void => {
      clearTimeout(timer);
      clearTimeout(total);
    },
  };
};

export type PatienceWatch = ReturnType<typeof watchOver>;
