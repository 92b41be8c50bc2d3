import { existsSync, realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { clientEnvironment } from '../../src/client/session.js';
import { runningDaemon } from './process.js';

const DEFAULT_HOME = '~/.adjutant';

/** The daemon's folder: what the flag says, else the daemon's own setting, else the built-in one. */
export const homeOf = (flag: string | undefined): string => {
  const given = flag || process.env.ADJUTANT_HOME || DEFAULT_HOME;
  return resolve(given.replace(/^~(?=$|\/)/, homedir()));
};

/**
 * Returns an environment without the user's ADJUTANT_ settings, for a daemon with settings of its
 * own.
 */
export const environmentWith = (settings: Record<string, string>): NodeJS.ProcessEnv => {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('ADJUTANT_'));
  return { ...Object.fromEntries(kept), ...settings };
};

/**
 * The environment of the daemon beside its settings (mallopt(3)). The C library of Linux takes large
 * blocks from the system and gives them back at once; but after each such block of up to 32 MB it keeps
 * those of that size by default (M_MMAP_THRESHOLD), as the 19 MB of a password's hash. Memory at the end
 * of a thread's heap is given back above 1 MiB (M_TRIM_THRESHOLD): above 128 KiB, the default, SQLite's
 * 64 KiB for a statement can come from the system and go back with each statement, ten times its cost.
 */
export const DAEMON_ENV = {
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '1048576',
};

/** Returns this environment for a daemon, with what it needs beside its settings. */
export const daemonEnvironment = (): NodeJS.ProcessEnv => ({ ...DAEMON_ENV, ...process.env });

/**
 * The path of this Node for a service: where PATH has a link to it, that link, which package managers
 * keep when they upgrade Node. Not one of a version manager that ends with the shell or the login.
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

/** Folder of this user's configuration (XDG Base Directory). */
export const configFolder = (): string => process.env.XDG_CONFIG_HOME || join(homedir(), '.config');

/** This user's editor, as a shell would run it; undefined: none is set. */
export const editorHere = (): string | undefined =>
  process.env.VISUAL?.trim() || process.env.EDITOR?.trim() || undefined;

/** A path as a person writes it: `~/.config/…`. */
export const shortPath = (path: string): string => {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
};

/** True for an address of this machine. */
export const isLocalUrl = (url: string): boolean =>
  ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);

/**
 * The address that a command asks, the first that is given: `--server`; that of the daemon in the
 * background of `--home`; ADJUTANT_URL; that of the daemon in the background of the usual home; the
 * usual address.
 */
export const addressOf = ({ server, home }: { server?: string; home?: string }): string => {
  if (server !== undefined) return server;
  const { url, isUrlGiven } = clientEnvironment();
  const found = home === undefined && isUrlGiven ? null : runningDaemon(homeOf(home));
  return found?.url ?? url;
};
