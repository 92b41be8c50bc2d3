import type { PermissionsOf } from '../permissions/module.js';
import type { RootedPath, Roots } from './roots.js';

/** Decides which folders of the machine a user may have indexed. */
export interface FolderAdmission {
  /** Returns the place of a path below its root, or a sentence that says why it may not be read. */
  admit(userId: string, path: string): Promise<RootedPath | string>;
  /** Returns the identities of the folders that are never read. */
  forbidden(): ReadonlySet<string>;
}

interface FolderAdmissionDeps {
  roots: Roots;
  /** The variable of the setting that names the roots. */
  variable: string;
  permissionsOf: PermissionsOf;
}

/** The permission of users that have folders of the machine indexed. */
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
    // A link in the path of a root may lead there too.
    const isSecret = roots.isSecret(path) || roots.isSecret(`/${place.below}`);
    return isSecret ? `${path} cannot be indexed because it contains files of the daemon` : place;
  },
  forbidden: roots.forbidden,
});
