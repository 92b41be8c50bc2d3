import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

const DEFAULT_HOME = '~/.adjutant';
const DEFAULT_PORT = 3005;

/** The daemon's folder: what the flag says, else the daemon's own setting, else the built-in one. */
export const homeOf = (flag: string | undefined): string => {
  const given = flag || process.env.ADJUTANT_HOME || DEFAULT_HOME;
  return resolve(given.replace(/^~(?=$|\/)/, homedir()));
};

/** The environment of a daemon that none of the user's settings may reach, with some of its own. */
export const environmentWith = (settings: Record<string, string>): NodeJS.ProcessEnv => {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('ADJUTANT_'));
  return { ...Object.fromEntries(kept), ...settings };
};

/** Folder of this user's configuration (XDG Base Directory). */
export const configFolder = (): string => process.env.XDG_CONFIG_HOME || join(homedir(), '.config');

/** Address at which a daemon started from this shell would listen, unless its flags say otherwise. */
export const listeningHere = (): { host: string; port: number } => ({
  host: process.env.ADJUTANT_HOST || '127.0.0.1',
  port: Number(process.env.ADJUTANT_PORT || DEFAULT_PORT),
});

/** This user's editor, as a shell would run it; undefined: none is set. */
export const editorHere = (): string | undefined =>
  process.env.VISUAL?.trim() || process.env.EDITOR?.trim() || undefined;

/** A path as a person writes it: `~/.config/…`. */
export const shortPath = (path: string): string => {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
};
