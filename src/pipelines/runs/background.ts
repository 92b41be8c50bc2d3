import type { Log } from '../../kernel/log.js';
import type { InTurn } from './service.js';

/** The work on runs that nobody waits for. */
export interface BackgroundWork {
  /** Does a piece of work on a run in its turn. After an error it is done again. */
  begin(runId: string, work: () => Promise<unknown>): void;
  /** Waits for what is under way. */
  drain(): Promise<void>;
}

interface BackgroundDeps {
  inTurn: InTurn;
  log: Log;
  /** True once nothing more may begin. */
  isStopping(): boolean;
}

/** Ours: the time after which a run goes on that an error of the daemon has held up. */
const AGAIN_MS = 5000;

/** Creates the work on runs that nobody waits for. */
export const createBackgroundWork = ({
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
        setTimeout(() => begin(runId, work), AGAIN_MS).unref();
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
