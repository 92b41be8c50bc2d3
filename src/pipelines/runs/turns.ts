import type { InTurn } from './service.js';

/**
 * Creates the turns of runs: of the works on one run each begins when the one before has ended, whether
 * it failed or not. Works on different runs go on side by side.
 */
export const createTurnsOfRuns = (): InTurn => {
  const last = new Map<string, Promise<unknown>>();
  return async (runId, work) => {
    const before = last.get(runId) ?? Promise.resolve();
    const turn = before.then(work, work);
    last.set(runId, turn);
    try {
      return await turn;
    } finally {
      if (last.get(runId) === turn) last.delete(runId);
    }
  };
};
