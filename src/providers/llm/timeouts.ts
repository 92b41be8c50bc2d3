import { ModelFailure } from './model.js';

/** The time limits of a model, in milliseconds. */
export interface ModelTimeouts {
  /** The limit until the first token. */
  firstTokenMs: number;
  /** The limit between one token and the next. */
  silenceMs: number;
  /** The limit for a whole reply. */
  totalMs: number;
}

/**
 * Watches the time limits of one reply. An endpoint may send data that is no token, such as a sign
 * of life every few seconds, so the limits of the connection are not enough.
 */
export const watchTimeouts = (
  name: string,
  { firstTokenMs, silenceMs, totalMs }: ModelTimeouts,
) => {
  const end = new AbortController();
  const endAfter = (ms: number, what: string): NodeJS.Timeout =>
    setTimeout(() => end.abort(new ModelFailure('timeout', `${name} ${what}`)), ms);
  const total = endAfter(totalMs, `did not finish within ${totalMs / 1000} s`);
  let isFirst = true;
  let timer = endAfter(firstTokenMs, `sent no token within ${firstTokenMs / 1000} s`);

  return {
    /** A signal that is aborted with a ModelFailure as its reason. */
    signal: end.signal,
    /** Records that a token came. */
    active: (): void => {
      if (!isFirst) {
        timer.refresh();
        return;
      }
      isFirst = false;
      clearTimeout(timer);
      timer = endAfter(silenceMs, `sent no further token for ${silenceMs / 1000} s`);
    },
    stop: (): void => {
      clearTimeout(timer);
      clearTimeout(total);
    },
  };
};

export type TimeoutWatch = ReturnType<typeof watchTimeouts>;
