import { ModelFailure } from './model.js';

export interface ModelTimeouts {
  /** In milliseconds, as all limits. */
  firstTokenMs: number;
  silenceMs: number;
  totalMs: number;
}

/** The limits of the connection are not enough, because an endpoint may send keep-alive data. */
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
    signal: end.signal,
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
