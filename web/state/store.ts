import { useEffect, useState } from 'preact/hooks';

/** A value that views observe. */
export interface Observable<T> {
  get(): T;
  set(next: T): void;
  follow(hear: (value: T) => void): () => void;
}

export const createObservable = <T>(initial: T): Observable<T> => {
  let value = initial;
  const listeners = new Set<(value: T) => void>();
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return;
      value = next;
      for (const hear of listeners) hear(next);
    },
    follow: (hear) => {
      listeners.add(hear);
      return () => {
        listeners.delete(hear);
      };
    },
  };
};

export const useObservable = <T>(of: Observable<T>): T => {
  const [value, setValue] = useState(() => of.get());
  useEffect(() => {
    setValue(() => of.get());
    return of.follow((next) => setValue(() => next));
  }, [of]);
  return value;
};
