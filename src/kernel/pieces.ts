import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A library that is loaded on first use, without blocking the event loop for long. */
export interface LazyLibrary<T> {
  /** The package name for import. The measured times are noted where it is used. */
  library: string;
  /**
   * CommonJS modules that the library loads, those without dependencies first. The names are as in
   * the library's own imports, or as `undici/lib/...` for the library's own files.
   */
  pieces: string[];
  load(): Promise<T>;
}

/**
 * Returns a function that loads a library in pieces. Node runs all CommonJS modules of a library in
 * one turn of the event loop. The modules named here run before it, each in its own turn. A module
 * that is missing in another version of the library is skipped: the library still loads, only in a
 * longer turn.
 */
export const inPieces = <T>({ library, pieces, load }: LazyLibrary<T>): (() => Promise<T>) => {
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
