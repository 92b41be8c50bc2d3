import { type Dirent, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** `path` is relative to the home, with `/` as separator. */
export interface HomeFile {
  path: string;
  size: number;
  isExecutable: boolean;
  /** Seconds since 1970. */
  mtime: number;
  /** Identifies the file, which may be replaced before it is read. */
  inode: string;
}

export interface HomeFiles {
  files: HomeFile[];
  /** Paths that are left out, each with the reason. */
  skipped: string[];
}

/** Excluded names at the top of a home. Everything else is copied, including files of new modules. */
const LEFT: RegExp[] = [
  // Copied separately, with the files that SQLite keeps beside it.
  /^adjutant\.db/,
  /^audit\.head/,
  /^lock\.db/,
  // Derived from the database.
  /^search\.db/,
  // Sealed with the keys.
  /^keys$/,
  /^clitools$/,
  /^mcp\.json$/,
  // Specific to this machine or another version, or a backup itself.
  /^daemon\.json/,
  // Valid only for the first account after this start.
  /^setup-code/,
  /^snapshots$/,
  /^aside$/,
  /^logs$/,
  /^backups$/,
  /^restoring$/,
  // Compiled code of this machine's daemon.
  /^cache$/,
  // Temporary files of uploads and processes.
  /^scratch$/,
  // Audio that is removed after its transcription.
  /^voice$/,
  // Large models and programs for this machine, which can be installed again.
  /^capabilities$/,
];
/**
 * Names that the file system, a NAS or a desktop keeps at the top of a volume. They are not copied, and
 * a restore leaves them alone.
 */
const OF_VOLUME: RegExp[] = [
  // ext2 to ext4, ZFS, Btrfs with snapper, NetApp, and deleted files that are open over NFS.
  /^(lost\+found|\.zfs|\.snapshots?|~snapshot|\.nfs[0-9a-f]+)$/,
  // Synology, QNAP and TrueNAS.
  /^(@eaDir|#snapshot|#recycle|@Recycle|@Recently-Snapshot|\.@__thumb|@tmp|\.recycle)$/,
  // macOS.
  /^(\.DS_Store|\.Spotlight-V100|\.Trashes|\.fseventsd|\.TemporaryItems|\.DocumentRevisions-V100)$/,
  /^(\.apdisk|\.AppleDouble|\.VolumeIcon\.icns|\.metadata_never_index|\._.+)$/,
  // Windows, and desktops of Linux.
  /^(System Volume Information|\$RECYCLE\.BIN|Thumbs\.db|desktop\.ini|\.Trash-\d+|\.directory)$/i,
  // Files that keep an empty folder in a repository.
  /^\.(keep|gitkeep|keepme|placeholder)$/,
];

/** `name` is at the top of a folder. */
export const isVolumeFile = (name: string): boolean =>
  OF_VOLUME.some((pattern) => pattern.test(name));

/** Backups. One that is stored in the home would be copied into every later backup. */
const BACKUP = /^adjutant-\d{8}-\d{6}(?:-\d+)?\.tar/;
/** These contain secrets: logins of command-line tools, and mcp.json. */
const SECRET = ['mcp.json', 'clitools'];
const MAX_SECRET = 16 * 1024 * 1024;

export const isExcludedName = (path: string): boolean =>
  LEFT.some((pattern) => pattern.test(path.split('/', 1)[0] ?? ''));

/** True if a path may be unpacked from the sealed files. */
export const isSecretPath = (path: string): boolean => SECRET.includes(path.split('/', 1)[0] ?? '');

const DOCUMENTS = 'documents';

/** Lists the files that are copied unencrypted. */
export const listPlainFiles = (home: string, withoutDocuments = false): HomeFiles => {
  const top = readdirSync(home, { withFileTypes: true }).filter(
    ({ name }) => !isExcludedName(name) && !isVolumeFile(name),
  );
  if (!withoutDocuments) return gather(home, top);
  const found = gather(
    home,
    top.filter(({ name }) => name !== DOCUMENTS),
  );
  found.skipped.push(`${DOCUMENTS}: left out on request`);
  return found;
};

/** The files that are sealed together with the keys. */
export const readSecretFiles = (home: string): { path: string; content: string }[] => {
  const there = readdirSync(home, { withFileTypes: true }).filter(({ name }) => isSecretPath(name));
  return gather(home, there)
    .files.filter(({ size }) => size <= MAX_SECRET)
    .map(({ path }) => ({ path, content: readFileSync(join(home, path)).toString('base64') }));
};

export const formatInode = ({ dev, ino }: { dev: number; ino: number }): string => `${dev}:${ino}`;

const gather = (home: string, top: Dirent[]): HomeFiles => {
  const found: HomeFiles = { files: [], skipped: [] };
  const look = (folder: string, entries: Dirent[]): void => {
    for (const entry of entries) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      attempt(found, path, () => {
        if (BACKUP.test(entry.name)) found.skipped.push(`${path}: it is a backup`);
        else if (entry.isDirectory()) {
          look(path, readdirSync(join(home, path), { withFileTypes: true }));
        } else if (!entry.isFile())
          found.skipped.push(`${path}: it is neither a file nor a folder`);
        else if (/[\n\\]/.test(path))
          found.skipped.push(`${path}: its name contains a line feed or a backslash`);
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
  return { path, size: found.size, isExecutable, mtime, inode: formatInode(found) };
};

/** Agents work during a backup: a missing file is ignored, an unreadable one is listed as skipped. */
const attempt = (found: HomeFiles, path: string, look: () => void): void => {
  try {
    look();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code !== 'ENOENT') found.skipped.push(`${path}: ${error.code}`);
  }
};
