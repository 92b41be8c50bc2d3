import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { renameDurably } from '../../kernel/durable.js';
import { makePrivateFolder } from '../../kernel/private.js';
import { DATABASE } from '../../store/engine/protocol.js';
import { copyDatabase, type NewestDelivery } from '../../store/thread/copy.js';
import { type Archive, FileGone, openArchive } from './archive.js';
import type { BackupMade } from './contract.js';
import { listPlainFiles, readSecretFiles } from './home.js';
import { sealKeys } from './keys.js';
import {
  type BackupFile,
  BadBackup,
  computeManifestSum,
  FORMAT,
  KEYS,
  MANIFEST,
  type Manifest,
  SUM,
  sha256,
} from './manifest.js';
import type { ProgressWatch } from './progress.js';

export interface BackupCreation {
  home: string;
  /** Absolute path of a file that must not exist yet. */
  file: string;
  passphrase: string;
  masterKeys: Uint8Array[];
  at: string;
  version: string;
  settings: string[];
  /** True to leave out the originals of documents. */
  withoutDocuments: boolean;
}

const MAX_SKIPPED = 1000;

/**
 * The file gets its final name once it is on the disk, so that a file with that name is complete. The
 * head of the audit log is read before the database, so that it is never ahead of it; other files after
 * the database, so that every file that the database refers to is included.
 */
export const createBackup = async (
  of: BackupCreation,
  watch: ProgressWatch,
): Promise<BackupMade> => {
  const part = `${of.file}.part`;
  makePrivateFolder(dirname(of.file));
  if (existsSync(of.file))
    throw new BadBackup(
      `${of.file} already exists`,
      'Run adjutant backup create again. The new backup gets another file name',
    );
  const copy = `${part}.db`;
  let bytes = 0;
  const archive = openArchive(part, (more) => {
    bytes += more;
    watch.step('files', bytes);
  });
  try {
    const head = readHead(of.home);
    const contents = await copyDatabase(of.home, copy, (done, total) =>
      watch.step('database', done, total),
    );
    const made = await fill(archive, of, { copy, head, ...contents });
    archive.end();
    renameDurably(part, of.file);
    return { ...made, bytes };
  } finally {
    archive.close();
    for (const left of [part, copy, `${copy}-journal`]) rmSync(left, { force: true });
  }
};

interface CopiedDatabase {
  copy: string;
  head: Buffer | null;
  schema: number;
  newestDelivery: NewestDelivery | null;
}

const fill = async (
  archive: Archive,
  of: BackupCreation,
  { copy, head, schema, newestDelivery }: CopiedDatabase,
): Promise<Omit<BackupMade, 'bytes'>> => {
  const own = { isExecutable: false, mtime: Math.floor(Date.parse(of.at) / 1000) };
  const database = archive.addFrom({ path: DATABASE, ...own }, { path: copy });
  rmSync(copy);
  const heads = head === null ? [] : [archive.add({ path: 'audit.head', ...own }, head)];
  const { files, skipped } = addFiles(archive, of);
  const { sealed, macKey } = await sealKeys(of.passphrase, {
    masterKeys: of.masterKeys,
    files: readSecretFiles(of.home),
  });
  const keys = archive.add({ path: KEYS, ...own }, sealed);
  const all = [bare(database), ...heads, ...files, keys];
  const manifest: Manifest = {
    format: FORMAT,
    version: of.version,
    schema,
    createdAt: of.at,
    newestDelivery,
    settings: of.settings,
    skipped,
    files: all,
  };
  const bytes = Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`);
  archive.add({ path: MANIFEST, ...own }, bytes);
  archive.add({ path: SUM, ...own }, computeManifestSum(bytes, macKey));
  return {
    files: all.length,
    schema,
    databaseBytes: database.size,
    newestDelivery,
    manifestSha256: sha256(bytes),
    skipped: skipped.slice(0, MAX_SKIPPED),
  };
};

const bare = ({ path, size, sha256 }: BackupFile): BackupFile => ({ path, size, sha256 });

const addFiles = (
  archive: Archive,
  { home, withoutDocuments }: Pick<BackupCreation, 'home' | 'withoutDocuments'>,
) => {
  const { files, skipped } = listPlainFiles(home, withoutDocuments);
  const added: BackupFile[] = [];
  for (const file of files) {
    try {
      const { isTorn, ...one } = archive.addFrom(file, {
        path: join(home, file.path),
        inode: file.inode,
      });
      if (isTorn) skipped.push(`${file.path}: it became shorter while it was read`);
      added.push(one);
    } catch (error) {
      if (!(error instanceof FileGone)) throw error;
      skipped.push(`${file.path}: ${error.message}`);
    }
  }
  return { files: added, skipped };
};

const readHead = (home: string): Buffer | null => {
  const file = join(home, 'audit.head');
  return existsSync(file) ? readFileSync(file) : null;
};
