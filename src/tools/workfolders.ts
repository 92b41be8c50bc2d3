import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Creates the working folders. Every hook and every agent has its own folder under `work`, and
 * tools touch nothing else.
 */
export const createWorkFolders = (home: string) => {
  const root = join(home, 'work');
  const pathOf = (userId: string, name: string): string => join(root, userId, name);
  return {
    /** Creates the folder if it does not exist, and returns its path. */
    open: async (userId: string, name: string): Promise<string> => {
      const folder = pathOf(userId, name);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return folder;
    },
    remove: (userId: string, name: string): Promise<void> =>
      rm(pathOf(userId, name), { recursive: true, force: true }),
    /** Returns the IDs of the users that have folders. */
    users: (): Promise<string[]> => foldersIn(root),
    names: (userId: string): Promise<string[]> => foldersIn(join(root, userId)),
  };
};

export type WorkFolders = ReturnType<typeof createWorkFolders>;

const foldersIn = async (folder: string): Promise<string[]> => {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
};
