import { realpathSync, statSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { identityOf } from '../kernel/confinedpath.js';
import { OpenRefused } from '../store/engine/protocol.js';

/**
 * A path below one of the roots, from the top of the file system, without the links that led to the
 * root at the start. It is opened folder by folder and no link is followed: one that has been put in
 * the place of a folder since then is refused.
 */
export interface RootedPath {
  root: '/';
  /** Relative to the top, with slashes; '' for the top itself. */
  below: string;
}

/** The folders below which files may be indexed. */
export interface Roots {
  list: readonly string[];
  /** Returns the place of an absolute path; null if it lies under no root. */
  find(path: string): RootedPath | null;
  /** True for an absolute path that is never read, or lies in one. */
  isSecret(path: string): boolean;
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
 * of all users nobody may have indexed, in that of the backups or of the logins.
 */
export const createRoots = ({
  roots,
  variable,
  home,
  backupFolder,
  logins,
}: RootsOptions): Roots => {
  const list = roots.map((root) => resolve(root));
  const secret = [home, logins, ...(backupFolder === null ? [] : [backupFolder])];
  const secretPaths = secret.flatMap((one) => [realOf(one), resolve(one)]);
  const isSecret = (path: string): boolean => secretPaths.some((one) => isBelow(one, path));
  const inside = list.find((root) => isSecret(realOf(root)));
  if (inside !== undefined) {
    const where = 'the data folder, its backups and the logins of the command line';
    throw new OpenRefused(`${variable} must name folders outside ${where} (got "${inside}")`);
  }
  // What leads to a root is trusted at the start alone: others may be able to change it.
  const reals = new Map(list.map((root) => [root, realOf(root)]));
  return {
    list,
    find: (path) => {
      const whole = resolve(path);
      const root = list.find((one) => isBelow(one, whole));
      const real = root === undefined ? undefined : reals.get(root);
      if (root === undefined || real === undefined) return null;
      return { root: '/', below: belowOf('/', join(real, belowOf(root, whole))) };
    },
    isSecret,
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
