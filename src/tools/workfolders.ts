import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** One folder per hook and agent. Tools access nothing else. */
export const createWorkFolders = (home: string) => {
  const root = join(home, 'work');
  const pathOf = (userId: string, name: string): string => join(root, userId, name);
  return {
    open: async (userId: string, name: string): Promise<string> => {
      const folder = pathOf(userId, name);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return folder;
    },
    remove: (userId: string, name: string): Promise<void> =>
      rm(pathOf(userId, name), { recursive: true, force: true }),
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
