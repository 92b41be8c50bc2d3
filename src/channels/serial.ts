/** Does the work of one key after the other, in the order that it came in. */
export type Serial = <T>(key: string, work: () => Promise<T>) => Promise<T>;

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
