import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface LazyLibrary<T> {
  library: string;
  /**
   * CommonJS modules of the library, those without dependencies first. Names as in the library's
   * imports, or `undici/lib/...`.
   */
  pieces: string[];
  load(): Promise<T>;
}

/**
 * Node loads all CommonJS modules of a library in one turn of the event loop. The listed modules
 * are loaded before, each in its own turn. Missing modules are skipped, which only makes the last
 * turn longer.
 */
export const requireIncrementally = <T>({
  library,
  pieces,
  load,
}: LazyLibrary<T>): (() => Promise<T>) => {
  let loaded: Promise<T> | null = null;
  const loadAll = async (): Promise<T> => {
    const require = createRequire(import.meta.resolve(library));
    for (const piece of pieces) {
      if (isThere(require, piece)) require(piece);
      await nextTurn();
    }
    return load();
  };
  return () => {
    loaded ??= loadAll();
    return loaded;
  };
};

const isThere = (require: NodeJS.Require, piece: string): boolean => {
  try {
    require.resolve(piece);
    return true;
  } catch {
    return false;
  }
};
