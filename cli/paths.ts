import { homedir } from 'node:os';

/** A path as a person writes it: `~/.config/…`. */
export const shortPath = (path: string): string => {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
};
