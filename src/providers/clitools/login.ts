import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { makePrivate } from '../../kernel/private.js';
import { homeEnv, isFile, isLoggedIn, openHome } from './home.js';
import { cliTools } from './tools.js';

/** The data to log a tool in, in the HOME that it has under the daemon. */
export interface ToolLogin {
  argv: [command: string, ...args: string[]];
  /** The folder in which the login command runs. */
  folder: string;
  env: Record<string, string>;
  /** The path of the user's own login, which could be copied; null if there is none. */
  own: string | null;
  isThere(): Promise<boolean>;
  /** Copies the user's own login. */
  copy(): Promise<void>;
}

/** Creates the tool's HOME. Returns null if there is no such tool. */
export const loginOf = async (home: string, name: string): Promise<ToolLogin | null> => {
  const tool = Object.values(cliTools).find((each) => each.name === name);
  if (!tool) return null;
  const folder = await openHome(home, tool.name);
  const theirs = [...tool.logins, ...tool.keeps].map((path) => ({
    from: join(homedir(), path),
    to: join(folder, path),
    isLogin: tool.logins.includes(path),
  }));
  const found = await Promise.all(theirs.map(async ({ from }) => isFile(from)));
  const files = theirs.filter((_, at) => found[at]);
  return {
    argv: [tool.name, ...tool.loginArgs],
    folder,
    env: homeEnv(folder),
    own: files.find(({ isLogin }) => isLogin)?.from ?? null,
    isThere: () => isLoggedIn(home, tool),
    copy: async () => {
      for (const { from, to } of files) {
        await mkdir(dirname(to), { recursive: true, mode: 0o700 });
        makePrivate(to);
        await writeFile(to, await readFile(from));
      }
    },
  };
};
