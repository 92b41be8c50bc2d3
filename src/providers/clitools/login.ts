import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { writeDurably } from '../../kernel/durable.js';
import { homeEnv, isFile, isLoggedIn, openHome } from './home.js';
import { cliTools } from './tools.js';

export type ToolLogin = NonNullable<Awaited<ReturnType<typeof prepareLogin>>>;

/** Null if there is no such tool. */
export const prepareLogin = async (home: string, name: string) => {
  const tool = Object.values(cliTools).find((each) => each.name === name);
  if (!tool) return null;
  const folder = await openHome(home, tool.name);
  const userFiles = [...tool.logins, ...(tool.keeps ?? [])].map((path) => ({
    from: join(homedir(), path),
    to: join(folder, path),
    isLogin: tool.logins.includes(path),
  }));
  const found = await Promise.all(userFiles.map(async ({ from }) => isFile(from)));
  const files = userFiles.filter((_, at) => found[at]);
  return {
    argv: [tool.name, ...tool.loginArgs] as const,
    folder,
    env: homeEnv(folder),
    /** Path of the user's own login, which can be copied, or null. */
    own: files.find(({ isLogin }) => isLogin)?.from ?? null,
    isThere: () => isLoggedIn(home, tool),
    copy: async () => {
      for (const { from, to } of files) {
        await mkdir(dirname(to), { recursive: true, mode: 0o700 });
        writeDurably(to, await readFile(from));
      }
    },
  };
};
