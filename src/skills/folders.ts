import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ConfinedPathError,
  type FolderEntry,
  listInside,
  readInside,
} from '../kernel/confinedpath.js';
import { InvalidSkill, readSkillFile, type SkillFile } from './frontmatter.js';

export interface FolderSkill {
  folder: string;
  file: Pick<SkillFile, 'name' | 'description'> | null;
  fault: string | null;
}

const SKILL_FILE = 'SKILL.md';
const MAX_SKILLS = 200;
const MAX_SKILL_BYTES = 256 * 1024;
const MAX_FILE_BYTES = 512 * 1024;
const LISTED = { levels: 4, most: 200 };

export const createSkillFolders = (home: string) => {
  const root = join(home, 'skills');
  const known = new Map<string, { stamp: string; skill: FolderSkill }>();

  const look = async (folder: string): Promise<FolderSkill> => {
    const stamp = await readChangeStamp(root, folder);
    const before = known.get(folder);
    if (before?.stamp === stamp) return before.skill;
    const skill = await load(root, folder);
    known.set(folder, { stamp, skill });
    return skill;
  };

  return {
    /** Unchanged folders are not read again. */
    scan: async (): Promise<FolderSkill[]> => {
      const folders = await foldersIn(root);
      if (typeof folders === 'string') return [{ folder: 'skills', file: null, fault: folders }];
      for (const folder of known.keys()) if (!folders.includes(folder)) known.delete(folder);
      return Promise.all(folders.map(look));
    },
    /** Errors: ConfinedPathError, BadSkill. */
    open: async (folder: string) => {
      const { body } = readSkillFile(
        await textIn(root, `${folder}/${SKILL_FILE}`, MAX_SKILL_BYTES),
      );
      const { entries, isCut } = await listInside(root, folder, LISTED);
      return { body, files: listSkillFiles(folder, entries), isCut };
    },
    /** Errors: ConfinedPathError. */
    read: (folder: string, path: string): Promise<string> =>
      textIn(root, `${folder}/${path}`, MAX_FILE_BYTES),
  };
};

export type SkillFolders = ReturnType<typeof createSkillFolders>;

const listSkillFiles = (folder: string, entries: FolderEntry[]): string[] =>
  entries
    .filter(({ kind }) => kind === 'file')
    .map(({ path }) => path.slice(folder.length + 1))
    .filter((path) => path !== SKILL_FILE);

/** Returns a string with the reason if the folder cannot be read. */
const foldersIn = async (root: string): Promise<string[] | string> => {
  try {
    const entries = await readdir(root, { withFileTypes: true });
    return entries
      .filter((entry) => !entry.isFile() && !entry.name.startsWith('.'))
      .map(({ name }) => name)
      .sort()
      .slice(0, MAX_SKILLS);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return error.code === 'ENOENT' ? [] : `The folder skills cannot be read (${error.code})`;
  }
};

const readChangeStamp = async (root: string, folder: string): Promise<string> => {
  const paths = [join(root, folder), join(root, folder, SKILL_FILE)];
  const stats = await Promise.all(paths.map((path) => lstat(path).catch(() => null)));
  return stats.map((one) => one && `${one.ino} ${one.mode} ${one.size} ${one.mtimeMs}`).join();
};

const load = async (root: string, folder: string): Promise<FolderSkill> => {
  try {
    const source = await textIn(root, `${folder}/${SKILL_FILE}`, MAX_SKILL_BYTES);
    const { name, description } = readSkillFile(source);
    if (name !== folder)
      throw new InvalidSkill(`The skill is named ${name}. The folder must have the same name.`);
    return { folder, file: { name, description }, fault: null };
  } catch (error) {
    if (!(error instanceof InvalidSkill || error instanceof ConfinedPathError)) throw error;
    return { folder, file: null, fault: error.message };
  }
};

const textIn = async (root: string, path: string, maxBytes: number): Promise<string> => {
  const bytes = await readInside(root, path, maxBytes);
  if (bytes.includes(0)) throw new ConfinedPathError(path, 'is not a text file');
  return bytes.toString();
};
