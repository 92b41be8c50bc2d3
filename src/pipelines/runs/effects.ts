import { setTimeout as pause } from 'node:timers/promises';
import { createTurns } from '../../kernel/fairqueue.js';
import type { Log } from '../../kernel/log.js';
import { persistently } from '../../store/persistently.js';
import type { CallOutcome } from './calls.js';
import type { RunStage } from './run.js';

/** The calls of stages that are under way in this process. */
export interface Effects {
  /** Makes the call of a stage whose beginning was committed. */
  begin(of: RunStage): void;
  /** Ends the call of a stage, if one is under way; its outcome is not recorded. */
  abort(runId: string, key: string): void;
  /**
   * Waits at most so long for what is under way, then ends it. What has not ended is settled at the
   * next start. From the call on, nothing may begin.
   */
  stop(waitMs: number): Promise<void>;
  isStopping(): boolean;
}

/** Records the outcome of a call. */
export type CallSettled = (of: RunStage, outcome: CallOutcome) => Promise<void>;

/** Makes the call that a stage has recorded. */
export type CallPerformed = (of: RunStage, signal: AbortSignal) => Promise<CallOutcome>;

interface EffectsDeps {
  log: Log;
  perform: CallPerformed;
  settled: CallSettled;
}

/** Ours: the calls of stages that run at once, in all and of one user. */
const AT_ONCE = 16;
const EACH = 8;
const WAITING = 100_000;

/** Creates the calls of stages. */
export const createEffects = ({ log, perform, settled }: EffectsDeps): Effects => {
  const turns = createTurns({ atOnce: AT_ONCE, each: EACH, waiting: WAITING, isOldestFirst: true });
  const live = new Map<string, AbortController>();
  const resumable = new Set<AbortController>();
  const running = new Set<Promise<unknown>>();
  let isStopping = false;
  const nameOf = (runId: string, key: string): string => `${runId} ${key}`;

  const performed = async (of: RunStage, signal: AbortSignal): Promise<CallOutcome> => {
    try {
      // Research takes minutes and works in an operation of its own: it needs no place here.
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
    // What was done must not be forgotten because the disk is full for a while.
    if (!signal.aborted) await persistently(() => settled(of, outcome), signal);
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
      // The next start waits for the end of research again.
      for (const controller of resumable) controller.abort();
      await Promise.race([Promise.all(running), pause(waitMs, undefined, { ref: false })]);
      for (const controller of live.values()) controller.abort();
      live.clear();
    },
    isStopping: () => isStopping,
  };
};
