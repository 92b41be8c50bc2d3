import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A library that is loaded on first use, without holding the event loop up for long. */
export interface InPieces<T> {
  /** The package, as it is imported; what is measured of it stands where it is used. */
  library: string;
  /**
   * CommonJS modules that the library loads, those that load nothing first: as the library would
   * name them, or as `undici/lib/...` where they are its own.
   */
  pieces: string[];
  load(): Promise<T>;
}

/**
 * Node runs all CommonJS modules of a library in one turn of the event loop. Those named here run
 * before it, each in a turn of its own. A piece that another version of the library does not have is
 * left out: the library loads without it, only in a longer turn.
 */
export const inPieces = <T>({ library, pieces, load }: InPieces<T>): (() => Promise<T>) => {
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
