import type { Cancel, Clock } from '../../kernel/clock.js';
import { ModelFailure } from './model.js';

export interface ModelTimeouts {
  /** In milliseconds, as all limits. */
  firstTokenMs: number;
  silenceMs: number;
  totalMs: number;
}

/** The limits of the connection are not enough, because an endpoint may send keep-alive data. */
export const watchTimeouts = (
  clock: Clock,
  name: string,
  { firstTokenMs, silenceMs, totalMs }: ModelTimeouts,
) => {
  const end = new AbortController();
  const endAfter = (ms: number, what: string): Cancel =>
    clock.after(ms, () => end.abort(new ModelFailure('timeout', `${name} ${what}`)));
  const cancelTotal = endAfter(totalMs, `did not finish within ${totalMs / 1000} s`);
  let cancel = endAfter(firstTokenMs, `sent no token within ${firstTokenMs / 1000} s`);

  return {
    signal: end.signal,
    active: (): void => {
      cancel();
      cancel = endAfter(silenceMs, `sent no further token for ${silenceMs / 1000} s`);
    },
    stop: (): void => {
      cancel();
      cancelTotal();
    },
  };
};

export type TimeoutWatch = ReturnType<typeof watchTimeouts>;
