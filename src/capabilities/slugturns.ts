/**
 * Creates what does one thing after the other for each slug: two installations of one capability write
 * to one folder. A failure does not keep the next from its turn.
 */
export const createSlugTurns = () => {
  const last = new Map<string, Promise<unknown>>();
  return <T>(slug: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(slug) ?? Promise.resolve();
    const now = before.catch(() => undefined).then(work);
    last.set(slug, now);
    return now;
  };
};

export type SlugTurns = ReturnType<typeof createSlugTurns>;
