import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sessionFile } from '../../src/client/session.js';
import { shortPath } from './environment.js';

const FOR_OTHERS = 0o077;

/**
 * Takes from others on this machine what is the owner's alone: the home, the keys, the session file.
 * Nothing that is not the caller's, and no link, is touched. What was done, a sentence each.
 */
export const mend = (home: string): string[] => {
  const keys = join(home, 'keys');
  return [home, keys, ...filesIn(keys), sessionFile()].flatMap(close);
};

const close = (path: string): string[] => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const isOwn = found?.uid === process.getuid?.();
  if (!found || !isOwn || found.isSymbolicLink() || (found.mode & FOR_OTHERS) === 0) return [];
  const mode = found.isDirectory() ? 0o700 : 0o600;
  chmodSync(path, mode);
  const [before, after] = [found.mode & 0o777, mode].map((each) => `0${each.toString(8)}`);
  return [`Mended: ${shortPath(path)} is ${after} now, and was ${before}.`];
};

const filesIn = (folder: string): string[] => {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(folder).map((name) => join(folder, name));
};
