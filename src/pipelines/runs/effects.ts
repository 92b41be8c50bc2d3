import { type Clock, systemClock } from '../../kernel/clock.js';
import { createFairQueue } from '../../kernel/fairqueue.js';
import type { Log } from '../../kernel/log.js';
import { retryWhileUnavailable } from '../../store/retry.js';
import type { CallOutcome } from './calls.js';
import type { RunStage } from './run.js';

export interface Effects {
  /** Call after the start of the stage is committed. */
  begin(of: RunStage): void;
  /** Aborts a call without recording an outcome. */
  abort(runId: string, key: string): void;
  /**
   * Waits a limited time for active calls, then aborts them. The next start handles the rest. No
   * new calls may start.
   */
  stop(waitMs: number): Promise<void>;
  isStopping(): boolean;
}

export type RecordCallOutcome = (of: RunStage, outcome: CallOutcome) => Promise<void>;

export type PerformCall = (of: RunStage, signal: AbortSignal) => Promise<CallOutcome>;

interface EffectsDeps {
  clock: Clock;
  log: Log;
  perform: PerformCall;
  settled: RecordCallOutcome;
}

const AT_ONCE = 16;
const EACH = 8;
const WAITING = 100_000;

export const createEffects = ({ clock, log, perform, settled }: EffectsDeps): Effects => {
  const turns = createFairQueue({
    atOnce: AT_ONCE,
    each: EACH,
    waiting: WAITING,
    isOldestFirst: true,
  });
  const live = new Map<string, AbortController>();
  const resumable = new Set<AbortController>();
  const running = new Set<Promise<unknown>>();
  let isStopping = false;
  const nameOf = (runId: string, key: string): string => `${runId} ${key}`;

  const performed = async (of: RunStage, signal: AbortSignal): Promise<CallOutcome> => {
    try {
      // Research takes minutes and has its own operation, so it uses no slot here.
      return await (of.stage.kind === 'research'
        ? perform(of, signal)
        : turns.take(of.run.row.user_id, () => perform(of, signal)));
    } catch (err) {
      if (!signal.aborted)
        log.error({ err, run: of.run.row.id, stage: of.row.key }, 'a stage failed');
      return { status: 'failed', error: 'Internal error of the daemon', untrusted: false };
    }
  };

  const run = async (of: RunStage, { signal }: AbortController): Promise<void> => {
    const outcome = await performed(of, signal);
    // An outcome must not be lost while the disk is full.
    if (!signal.aborted) await retryWhileUnavailable(clock, () => settled(of, outcome), signal);
  };

  return {
    begin: (of) => {
      const name = nameOf(of.run.row.id, of.row.key);
      const controller = new AbortController();
      live.set(name, controller);
      if (of.stage.kind === 'research') resumable.add(controller);
      const ended = run(of, controller)
        .catch((err) => {
          if (!controller.signal.aborted)
            log.error({ err }, 'end of a stage could not be recorded');
        })
        .finally(() => {
          running.delete(ended);
          resumable.delete(controller);
          if (live.get(name) === controller) live.delete(name);
        });
      running.add(ended);
    },
    abort: (runId, key) => {
      live.get(nameOf(runId, key))?.abort();
      live.delete(nameOf(runId, key));
    },
    stop: async (waitMs) => {
      isStopping = true;
      // The next start waits for research again.
      for (const controller of resumable) controller.abort();
      await Promise.race([
        Promise.all(running),
        systemClock.wait(waitMs, undefined, { ref: false }),
      ]);
      for (const controller of live.values()) controller.abort();
      live.clear();
    },
    isStopping: () => isStopping,
  };
};
