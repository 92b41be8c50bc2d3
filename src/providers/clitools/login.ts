import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { makePrivate } from '../../kernel/private.js';
import { homeEnv, isFile, isLoggedIn, openHome } from './home.js';
import { cliTools } from './tools.js';

/** How a person logs a tool in, at the HOME that it has under the daemon. */
export interface ToolLogin {
  argv: [command: string, ...args: string[]];
  /** Where it is run. */
  folder: string;
  env: Record<string, string>;
  /** The person's own login, which could be copied; null: there is none. */
  own: string | null;
  isThere(): Promise<boolean>;
  /** Takes the person's own login over. */
  copy(): Promise<void>;
}

/** Null: no such tool. Makes its HOME. */
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
