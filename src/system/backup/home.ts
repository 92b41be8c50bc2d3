import { type Dirent, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file of a home. Its path is relative to the home, with `/` as separator. */
export interface HomeFile {
  path: string;
  size: number;
  isExecutable: boolean;
  /** Seconds since 1970. */
  mtime: number;
  /** Identifies the file that was found; another one may have replaced it when it is read. */
  inode: string;
}

export interface HomeFiles {
  files: HomeFile[];
  /** Paths that are left out, each with the reason. */
  skipped: string[];
}

/**
 * Names at the top of a home that are not copied as they are. Everything else is copied, so that a
 * new part of the daemon that keeps files in the home is in the backup without a line here.
 */
const LEFT: RegExp[] = [
  // Copied separately, and the files that SQLite keeps beside it.
  /^adjutant\.db/,
  /^audit\.head/,
  /^lock\.db/,
  // Made of the database.
  /^search\.db/,
  // Sealed with the keys.
  /^keys$/,
  /^clitools$/,
  /^mcp\.json$/,
  // Bound to this machine or to another version, or itself a backup.
  /^daemon\.json/,
  // Valid for the first account after this start only.
  /^setup-code/,
  /^snapshots$/,
  /^aside$/,
  /^logs$/,
  /^backups$/,
  /^restoring$/,
  // Compiled code of this machine's daemon, which runs as it is.
  /^cache$/,
  // Files that arrive, and those of processes at work.
  /^scratch$/,
  // Audio that is being transcribed, and removed after that.
  /^voice$/,
  // Models of gigabytes and programs for this machine, which can be fetched again.
  /^capabilities$/,
];
/**
 * Names at the top of a volume that its file system, a NAS or a desktop keeps there: they are no part
 * of a home, are not copied, and are left alone by a restore.
 */
const OF_VOLUME: RegExp[] = [
  // ext2 to ext4, ZFS, Btrfs with snapper, NetApp, and what NFS keeps of an open file.
  /^(lost\+found|\.zfs|\.snapshots?|~snapshot|\.nfs[0-9a-f]+)$/,
  // Synology, QNAP and TrueNAS.
  /^(@eaDir|#snapshot|#recycle|@Recycle|@Recently-Snapshot|\.@__thumb|@tmp|\.recycle)$/,
  // macOS.
  /^(\.DS_Store|\.Spotlight-V100|\.Trashes|\.fseventsd|\.TemporaryItems|\.DocumentRevisions-V100)$/,
  /^(\.apdisk|\.AppleDouble|\.VolumeIcon\.icns|\.metadata_never_index|\._.+)$/,
  // Windows, and desktops of Linux.
  /^(System Volume Information|\$RECYCLE\.BIN|Thumbs\.db|desktop\.ini|\.Trash-\d+|\.directory)$/i,
  // Files that keep an empty folder.
  /^\.(keep|gitkeep|keepme|placeholder)$/,
];

/** Returns true for a name at the top of a folder that belongs to its volume. */
export const isOfVolume = (name: string): boolean =>
  OF_VOLUME.some((pattern) => pattern.test(name));

/**
 * The file names of backups. A backup that is kept in the home would otherwise be copied into every
 * later one.
 */
const BACKUP = /^adjutant-\d{8}-\d{6}\.tar/;
/**
 * Contain secrets in plain text: the logins of command-line tools, and what the owner wrote into
 * mcp.json.
 */
const SECRET = ['mcp.json', 'clitools'];
const MAX_SECRET = 16 * 1024 * 1024;

export const isLeft = (path: string): boolean =>
  LEFT.some((pattern) => pattern.test(path.split('/', 1)[0] ?? ''));

/** Returns true if a path may be unpacked from the sealed files. */
export const isSecret = (path: string): boolean => SECRET.includes(path.split('/', 1)[0] ?? '');

/** The folder of the originals of documents. */
const DOCUMENTS = 'documents';

/** Lists the files that are copied as they are. */
export const openFiles = (home: string, withoutDocuments = false): HomeFiles => {
  const top = readdirSync(home, { withFileTypes: true }).filter(
    ({ name }) => !isLeft(name) && !isOfVolume(name),
  );
  if (!withoutDocuments) return gather(home, top);
  const found = gather(
    home,
    top.filter(({ name }) => name !== DOCUMENTS),
  );
  found.skipped.push(`${DOCUMENTS}: left out, as was asked`);
  return found;
};

/** Reads the files that are sealed together with the keys. */
export const secretFiles = (home: string): { path: string; content: string }[] => {
  const there = readdirSync(home, { withFileTypes: true }).filter(({ name }) => isSecret(name));
  return gather(home, there)
    .files.filter(({ size }) => size <= MAX_SECRET)
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

/**
 * Handles one path. Agents and users continue to work during a backup: a file that is gone is
 * ignored, one that may not be read is listed as skipped.
 */
const attempt = (found: HomeFiles, path: string, look: () => void): void => {
  try {
    look();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code !== 'ENOENT') found.skipped.push(`${path}: ${error.code}`);
  }
};
