/**
 * Serializes work per slug, since two installations of one capability write to one folder. A
 * failure does not block the next.
 */
export const createSlugLocks = () => {
  const last = new Map<string, Promise<unknown>>();
  return <T>(slug: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(slug) ?? Promise.resolve();
    const now = before.catch(() => undefined).then(work);
    last.set(slug, now);
    return now;
  };
};

export type SlugLocks = ReturnType<typeof createSlugLocks>;
