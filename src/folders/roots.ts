import { realpathSync, statSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { formatFileIdentity } from '../kernel/confinedpath.js';
import { OpenRefused } from '../store/engine/protocol.js';

/**
 * A path below a root, from the root of the file system, with the symbolic links of the start
 * resolved. It is opened folder by folder without following links, so that a folder that was
 * replaced by a link is refused.
 */
export interface RootedPath {
  root: '/';
  /** Relative to the root of the file system, with slashes. Empty for the root itself. */
  below: string;
}

export interface Roots {
  list: readonly string[];
  find(path: string): RootedPath | null;
  isSecret(path: string): boolean;
  forbidden(): ReadonlySet<string>;
}

interface RootsOptions {
  roots: string[];
  variable: string;
  home: string;
  backupFolder: string | null;
  logins: string;
}

/**
 * Throws OpenRefused if a root is inside the data folder, the backups or the logins: these contain
 * keys and texts of all users.
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
  const secretPaths = secret.flatMap((one) => [resolveRealPath(one), resolve(one)]);
  const isSecret = (path: string): boolean => secretPaths.some((one) => isBelow(one, path));
  const inside = list.find((root) => isSecret(resolveRealPath(root)));
  if (inside !== undefined) {
    const where = 'the data folder, its backups or the logins of the command line';
    throw new OpenRefused(
      `${variable} must not contain a folder in ${where} (got "${inside}"). Choose another folder`,
    );
  }
  // Symbolic links are resolved only at the start, because others may be able to change them later.
  const reals = new Map(list.map((root) => [root, resolveRealPath(root)]));
  return {
    list,
    find: (path) => {
      const whole = resolve(path);
      const root = list.find((one) => isBelow(one, whole));
      const real = root === undefined ? undefined : reals.get(root);
      if (root === undefined || real === undefined) return null;
      return { root: '/', below: toRelativePath('/', join(real, toRelativePath(root, whole))) };
    },
    isSecret,
    forbidden: () => new Set(secret.flatMap(listPathIdentities)),
  };
};

const toRelativePath = (root: string, path: string): string =>
  relative(root, path).split(sep).join('/');

const isBelow = (root: string, path: string): boolean =>
  !/^\.\.(\/|$)/.test(toRelativePath(root, path));

const resolveRealPath = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
};

const listPathIdentities = (path: string): string[] => {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? [formatFileIdentity(stats)] : [];
};
