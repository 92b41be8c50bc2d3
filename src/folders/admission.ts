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
      return 'You may not index files of the machine: an admin can give you the permission index';
    }
    if (roots.list.length === 0) return `No folder may be indexed: ${variable} names none`;
    const place = roots.find(path);
    if (place === null) return `${path} lies in no folder that ${variable} names`;
    // A link in the path of a root may lead there too.
    const isSecret = roots.isSecret(path) || roots.isSecret(`/${place.below}`);
    return isSecret ? `${path} is never read: the daemon keeps its own files there` : place;
  },
  forbidden: roots.forbidden,
});
