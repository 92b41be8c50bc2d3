export type Serial = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Runs the work of one key in order. A failure does not block the next. */
export const createSerial = (): Serial => {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key);
    const turn = before ? before.then(work, work) : work();
    last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (last.get(key) === turn) last.delete(key);
    }
  };
};
