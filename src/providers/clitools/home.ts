import { chmod, lstat, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../kernel/failure.js';
import { type CliTool, SYSTEM_FILE, type ToolName } from './tool.js';

/** Holds the login and no other data of the user. */
const getToolHome = (home: string, name: ToolName): string => join(home, 'clitools', name);

/** The environment of the daemon and the operator is ignored. */
export const homeEnv = (folder: string): Record<string, string> => ({
  HOME: folder,
  XDG_CONFIG_HOME: join(folder, '.config'),
  XDG_DATA_HOME: join(folder, '.local/share'),
  XDG_STATE_HOME: join(folder, '.local/state'),
  XDG_CACHE_HOME: join(folder, '.cache'),
  CLAUDE_CONFIG_DIR: join(folder, '.claude'),
  CODEX_HOME: join(folder, '.codex'),
});

export const openHome = async (home: string, name: ToolName): Promise<string> => {
  const folder = getToolHome(home, name);
  await mkdir(join(folder, '.codex'), { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  return folder;
};

export const isLoggedIn = async (home: string, { name, logins }: CliTool): Promise<boolean> => {
  const files = await Promise.all(
    logins.map((path) => isFile(join(getToolHome(home, name), path))),
  );
  return files.includes(true);
};

/** A regular file with content, not a link. */
export const isFile = async (path: string): Promise<boolean> => {
  try {
    const found = await lstat(path);
    return found.isFile() && found.size > 0;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
};

/** Folder for one call, in the HOME of the tool. */
export const createCallFolder = async (
  folder: string,
  tool: CliTool,
  system: string,
): Promise<{ folder: string; remove(): Promise<void> }> => {
  const call = await mkdtemp(join(folder, 'call-'));
  const files = { ...tool.files, [SYSTEM_FILE]: system };
  await Promise.all(
    Object.entries(files).map(([name, text]) => writeFile(join(call, name), text, { mode: 0o600 })),
  );
  return { folder: call, remove: () => rm(call, { recursive: true, force: true }) };
};

/**
 * Nothing is removed during a call. After the last one, everything but the login and the kept files
 * is removed.
 */
export const createHomes = (home: string) => {
  const users = new Map<ToolName, number>();
  const pruning = new Map<ToolName, Promise<void>>();

  const count = (name: ToolName, by: 1 | -1): number => {
    const left = (users.get(name) ?? 0) + by;
    users.set(name, left);
    return left;
  };

  return async <T>({ name, logins, keeps = [] }: CliTool, work: () => Promise<T>): Promise<T> => {
    count(name, 1);
    await pruning.get(name)?.catch(() => undefined);
    try {
      return await work();
    } finally {
      if (count(name, -1) === 0) {
        const done = prune(getToolHome(home, name), [...logins, ...keeps]);
        pruning.set(name, done);
        await done;
      }
    }
  };
};

const prune = async (folder: string, keeps: string[]): Promise<void> => {
  for (const entry of await entriesIn(folder)) {
    if (keeps.includes(entry.name)) continue;
    const path = join(folder, entry.name);
    const below = `${entry.name}/`;
    const inside = keeps.flatMap((keep) =>
      keep.startsWith(below) ? [keep.slice(below.length)] : [],
    );
    if (inside.length > 0 && entry.isDirectory()) await prune(path, inside);
    else await rm(path, { recursive: true, force: true });
  }
};

const entriesIn = async (folder: string) => {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
};
