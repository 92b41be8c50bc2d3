import { existsSync, realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { clientEnvironment } from '../../src/client/session.js';
import { runningDaemon } from './process.js';

const DEFAULT_HOME = '~/.adjutant';

/** The home of the daemon: the flag, the environment variable, or the default. */
export const resolveHome = (flag: string | undefined): string => {
  const input = flag || process.env.ADJUTANT_HOME || DEFAULT_HOME;
  return resolve(input.replace(/^~(?=$|\/)/, homedir()));
};

/** An environment without the ADJUTANT_ settings of the user, for a daemon with its own. */
export const environmentWith = (settings: Record<string, string>): NodeJS.ProcessEnv => {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('ADJUTANT_'));
  return { ...Object.fromEntries(kept), ...settings };
};

/**
 * Memory settings of the daemon (mallopt(3)). glibc takes large blocks from the system and
 * returns them at once. But after each such block of up to 32 MB it keeps blocks of that size by
 * default (M_MMAP_THRESHOLD), such as the 19 MB of a password hash. Memory at the end of a heap
 * is returned above 1 MiB (M_TRIM_THRESHOLD): above 128 KiB, the default, the 64 KiB of SQLite
 * for a statement can be taken and returned with each statement, at ten times its cost.
 */
export const DAEMON_ENV = {
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '1048576',
};

export const daemonEnvironment = (): NodeJS.ProcessEnv => ({ ...DAEMON_ENV, ...process.env });

/**
 * Path of this Node for a service: a link to it in PATH, which package managers keep when they
 * upgrade Node. Excludes links of version managers that end with the shell or the login.
 */
export const nodePath = (path = process.env.PATH ?? '', temporary = temporaryFolders()): string => {
  const own = realpathSync(process.execPath);
  const isTemporary = (folder: string) => temporary.some((each) => folder.startsWith(`${each}/`));
  const paths = path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isTemporary(folder))
    .map((folder) => join(folder, 'node'));
  return paths.find((path) => existsSync(path) && realpathSync(path) === own) ?? own;
};

const temporaryFolders = (): string[] => [tmpdir(), '/run', process.env.XDG_RUNTIME_DIR || '/run'];

/** XDG Base Directory. */
export const configFolder = (): string => process.env.XDG_CONFIG_HOME || join(homedir(), '.config');

/** As a shell would run it; undefined if none is set. */
export const editorCommand = (): string | undefined =>
  process.env.VISUAL?.trim() || process.env.EDITOR?.trim() || undefined;

/** Shortens a path: `~/.config/…`. */
export const shortPath = (path: string): string => {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
};

export const isLocalUrl = (url: string): boolean =>
  ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);

/**
 * The address of the daemon, the first of: `--server`; the background daemon of `--home`;
 * ADJUTANT_URL; the background daemon of the default home; the default address.
 */
export const resolveDaemonUrl = ({ server, home }: { server?: string; home?: string }): string => {
  if (server !== undefined) return server;
  const { url, isUrlGiven } = clientEnvironment();
  const found = home === undefined && isUrlGiven ? null : runningDaemon(resolveHome(home));
  return found?.url ?? url;
};

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]', '::1'];

/**
 * If Node is set to use a proxy, requests to a daemon on this machine would go through it, too, and
 * with them the token.
 */
export const bypassLocalProxy = async (env: NodeJS.ProcessEnv = process.env): Promise<void> => {
  const isUsed = env.NODE_USE_ENV_PROXY === '1' || env.NODE_OPTIONS?.includes('--use-env-proxy');
  if (!isUsed) return;
  const { setGlobalProxyFromEnv } = await import('node:http');
  const named = env.no_proxy || env.NO_PROXY;
  // Node 22 has no such function.
  setGlobalProxyFromEnv?.({ ...env, no_proxy: [named, ...LOOPBACK].filter(Boolean).join(',') });
};
