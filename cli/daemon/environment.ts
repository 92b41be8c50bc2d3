import { homedir } from 'node:os';
import { resolve } from 'node:path';

const DEFAULT_HOME = '~/.adjutant';

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
