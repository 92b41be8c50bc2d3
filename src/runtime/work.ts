import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Every hook and every agent has a folder of its own under `work`; tools touch nothing else. */
export const createWork = (home: string) => {
  const pathOf = (userId: string, name: string): string => join(home, 'work', userId, name);
  return {
    /** The folder's path; it exists then. */
    open: async (userId: string, name: string): Promise<string> => {
      const folder = pathOf(userId, name);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return folder;
    },
    remove: (userId: string, name: string): Promise<void> =>
      rm(pathOf(userId, name), { recursive: true, force: true }),
  };
};
