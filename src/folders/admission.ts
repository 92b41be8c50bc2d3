import type { PermissionsOf } from '../permissions/module.js';
import type { RootedPath, Roots } from './roots.js';

export interface FolderAdmission {
  /** Returns the location below its root, or the reason for the refusal. */
  admit(userId: string, path: string): Promise<RootedPath | string>;
  forbidden(): ReadonlySet<string>;
}

interface FolderAdmissionDeps {
  roots: Roots;
  variable: string;
  permissionsOf: PermissionsOf;
}

const RIGHT = 'index';

export const createAdmission = ({
  roots,
  variable,
  permissionsOf,
}: FolderAdmissionDeps): FolderAdmission => ({
  admit: async (userId, path) => {
    const { may } = await permissionsOf(userId);
    if (!may(RIGHT)) {
      return 'You are not allowed to index files of this machine. Ask an admin for the permission index';
    }
    if (roots.list.length === 0)
      return `Indexing of folders is disabled because ${variable} is empty`;
    const place = roots.find(path);
    if (place === null) return `${path} is outside the folders in ${variable}`;
    // A symbolic link in the path of a root may lead there as well.
    const isSecret = roots.isSecret(path) || roots.isSecret(`/${place.below}`);
    return isSecret
      ? `${path} cannot be indexed because it contains files of the daemon. Choose another folder`
      : place;
  },
  forbidden: roots.forbidden,
});
