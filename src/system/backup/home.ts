import { type Dirent, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file of a home, by its path from there with `/` between the parts. */
export interface HomeFile {
  path: string;
  size: number;
  isExecutable: boolean;
  /** Seconds since 1970. */
  mtime: number;
  /** Which file it was that was looked at: another may be in its place when it is read. */
  inode: string;
}

export interface HomeFiles {
  files: HomeFile[];
  /** Paths that are left out, with the reason. */
  skipped: string[];
}

/**
 * What of a home is not copied as it lies there. Everything else is, whoever put it there: what is
 * added to the daemon and keeps files in the home is in a backup without a line here.
 */
const LEFT: RegExp[] = [
  // Copied by its own way, and what SQLite keeps beside it.
  /^adjutant\.db/,
  /^audit\.head/,
  /^lock\.db/,
  // Sealed.
  /^keys$/,
  /^clitools$/,
  /^mcp\.json$/,
  // Of this machine, of another version, or a backup itself.
  /^daemon\.json/,
  // Opens the first account of this start alone.
  /^setup-code/,
  /^snapshots$/,
  /^aside$/,
  /^logs$/,
  /^backups$/,
  /^restoring$/,
];
/** One that was put into the home would double with every other. */
const BACKUP = /^adjutant-\d{8}-\d{6}\.tar/;
/** Hold secrets in the clear: logins of tools, and what was written into mcp.json by hand. */
const SECRET = ['mcp.json', 'clitools'];
const LARGEST_SECRET = 16 * 1024 * 1024;

export const isLeft = (path: string): boolean =>
  LEFT.some((pattern) => pattern.test(path.split('/', 1)[0] ?? ''));

/** Whether a path may be unpacked from among the sealed ones. */
export const isSecret = (path: string): boolean => SECRET.includes(path.split('/', 1)[0] ?? '');

/** What is copied as it lies there. */
export const openFiles = (home: string): HomeFiles =>
  gather(
    home,
    readdirSync(home, { withFileTypes: true }).filter(({ name }) => !isLeft(name)),
  );

/** What goes in with the keys. */
export const secretFiles = (home: string): { path: string; content: string }[] => {
  const there = readdirSync(home, { withFileTypes: true }).filter(({ name }) => isSecret(name));
  return gather(home, there)
    .files.filter(({ size }) => size <= LARGEST_SECRET)
    .map(({ path }) => ({ path, content: readFileSync(join(home, path)).toString('base64') }));
};

export const inodeOf = ({ dev, ino }: { dev: number; ino: number }): string => `${dev}:${ino}`;

const gather = (home: string, top: Dirent[]): HomeFiles => {
  const found: HomeFiles = { files: [], skipped: [] };
  const look = (folder: string, entries: Dirent[]): void => {
    for (const entry of entries) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      attempt(found, path, () => {
        if (BACKUP.test(entry.name)) found.skipped.push(`${path}: a backup`);
        else if (entry.isDirectory()) {
          look(path, readdirSync(join(home, path), { withFileTypes: true }));
        } else if (!entry.isFile()) found.skipped.push(`${path}: neither a file nor a folder`);
        else if (/[\n\\]/.test(path)) found.skipped.push(`${path}: its name`);
        else found.files.push(fileAt(home, path));
      });
    }
  };
  look('', top);
  return found;
};

const fileAt = (home: string, path: string): HomeFile => {
  const found = lstatSync(join(home, path));
  const mtime = Math.max(0, Math.floor(found.mtimeMs / 1000));
  const isExecutable = (found.mode & 0o100) !== 0;
  return { path, size: found.size, isExecutable, mtime, inode: inodeOf(found) };
};

/** Agents and people go on working meanwhile: what is gone is gone, what may not be read is told. */
const attempt = (found: HomeFiles, path: string, look: () => void): void => {
  try {
    look();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code !== 'ENOENT') found.skipped.push(`${path}: ${error.code}`);
  }
};
