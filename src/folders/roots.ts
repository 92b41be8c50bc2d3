import { realpathSync, statSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { identityOf } from '../kernel/confinedpath.js';
import { OpenRefused } from '../store/engine/protocol.js';

/** A path below one of the roots. */
export interface RootedPath {
  root: string;
  /** Relative to the root, with slashes; '' for the root itself. */
  below: string;
}

/** The folders below which files may be indexed. */
export interface Roots {
  list: readonly string[];
  /** Returns the root that an absolute path lies under; null if there is none. */
  find(path: string): RootedPath | null;
  /** Returns the identities of the folders that are never read, as they are now. */
  forbidden(): ReadonlySet<string>;
}

interface RootsOptions {
  roots: string[];
  /** The variable of the setting. */
  variable: string;
  home: string;
  backupFolder: string | null;
  /** The folder of the logins that the command line keeps. */
  logins: string;
}

/**
 * Creates the roots. Throws OpenRefused if one of them lies in the data folder, whose keys and texts
 * of all users nobody may have indexed.
 */
export const createRoots = ({
  roots,
  variable,
  home,
  backupFolder,
  logins,
}: RootsOptions): Roots => {
  const list = roots.map((root) => resolve(root));
  const inside = list.find((root) => isBelow(realOf(home), realOf(root)));
  if (inside !== undefined) {
    throw new OpenRefused(`${variable} must name folders outside the home (got "${inside}")`);
  }
  const secret = [home, logins, ...(backupFolder === null ? [] : [backupFolder])];
  return {
    list,
    find: (path) => {
      const whole = resolve(path);
      const root = list.find((one) => isBelow(one, whole));
      return root === undefined ? null : { root, below: belowOf(root, whole) };
    },
    forbidden: () => new Set(secret.flatMap(identitiesOf)),
  };
};

const belowOf = (root: string, path: string): string => relative(root, path).split(sep).join('/');

const isBelow = (root: string, path: string): boolean => !/^\.\.(\/|$)/.test(belowOf(root, path));

/** Returns a path without links, as far as it is there. */
const realOf = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
};

const identitiesOf = (path: string): string[] => {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? [identityOf(stats)] : [];
};
