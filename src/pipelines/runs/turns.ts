/** Work on the same run is serialized, also after failures. Different runs proceed in parallel. */
export const createRunSerializer = (): SerializeByRun => {
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

/** Serializes the work on a run. */
export type SerializeByRun = <T>(runId: string, work: () => Promise<T>) => Promise<T>;
