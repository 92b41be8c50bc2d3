import type { Clock } from '../../kernel/clock.js';
import type { Log } from '../../kernel/log.js';
import type { SerializeByRun } from './turns.js';

export interface BackgroundWork {
  /** Runs work on a run in its turn. Retries after an error. */
  begin(runId: string, work: () => Promise<unknown>): void;
  drain(): Promise<void>;
}

interface BackgroundDeps {
  clock: Clock;
  inTurn: SerializeByRun;
  log: Log;
  isStopping(): boolean;
}

/** Delay before a retry after an internal error. */
const RETRY_MS = 5000;

export const createBackgroundWork = ({
  clock,
  inTurn,
  log,
  isStopping,
}: BackgroundDeps): BackgroundWork => {
  const works = new Set<Promise<unknown>>();
  const begin: BackgroundWork['begin'] = (runId, work) => {
    if (isStopping()) return;
    const ended = inTurn(runId, work)
      .catch((err) => {
        log.error({ err, run: runId }, 'pipeline run failed to continue');
        clock.after(RETRY_MS, () => begin(runId, work), { ref: false });
      })
      .finally(() => works.delete(ended));
    works.add(ended);
  };
  return {
    begin,
    drain: async () => {
      await Promise.all(works);
    },
  };
};
