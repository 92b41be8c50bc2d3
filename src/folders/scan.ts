import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { iso } from '../kernel/clock.js';
import type { FolderEntry } from '../kernel/confinedpath.js';
import { isDiskFull } from '../kernel/failure.js';
import type { OperationEnd, OperationKind, OperationRun } from '../operations/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { KnowledgeFolderRow } from '../store/tables/folders.js';
import type { FolderAdmission } from './admission.js';
import type { ChangeScans, FolderInput } from './changes.js';
import {
  type FilesDeps,
  type FolderScan,
  finishFiles,
  indexFolderFile,
  isUnchanged,
  recordInvalidName,
  type ScanCounts,
} from './files.js';
import { REMOVED_AT_ONCE } from './queries.js';
import type { RootedPath } from './roots.js';
import { WalkFailed, walkFolder } from './walk.js';
import type { FolderWatcher } from './watcher.js';

interface ScanDeps extends FilesDeps {
  admission: FolderAdmission;
  inTurn<T>(folderId: string, work: () => Promise<T>): Promise<T>;
  changes: Pick<ChangeScans, 'during'>;
  /** Called after registration, because the watcher is created later. */
  watcher(): Pick<FolderWatcher, 'remove' | 'faultOf'>;
}

type ScanRun = OperationRun<FolderInput, null>;

/**
 * Scans a folder: reads new and changed files, and removes entries of deleted files. After an
 * interruption it starts again, and files that were read are not read again.
 */
export const scanOperation = (deps: ScanDeps): OperationKind<FolderInput, null> => ({
  kind: 'knowledge.folder',
  isResumable: true,
  isAdmins: false,
  isHeavy: true,
  run: (run) => {
    const { folderId: id } = run.input;
    const scan = (): Promise<OperationEnd> => scanFolder(deps, run);
    return deps.inTurn(id, () => deps.changes.during({ id, userId: run.userId }, scan));
  },
});

const scanFolder = async (deps: ScanDeps, run: ScanRun): Promise<OperationEnd> => {
  const folder = await deps.folders.get(run.userId, run.input.folderId);
  if (!folder) return { status: 'failed', error: 'The folder was deleted' };
  const progress: ScanProgress = { counts: { ...NONE }, total: null, note: null };
  try {
    await readFolder(deps, run, folder, progress);
    return { status: 'completed', result: { ...progress.counts } };
  } catch (error) {
    run.signal.throwIfAborted();
    const reason = getScanFailureMessage(error);
    if (reason === null) throw error;
    await commitProgress(run, [deps.folders.change(folder.id, { error: reason })], progress);
    return { status: 'failed', error: reason };
  }
};

const NONE: ScanCounts = { unchanged: 0, read: 0, moved: 0, failed: 0, skipped: 0, removed: 0 };

interface ScanProgress {
  counts: ScanCounts;
  total: number | null;
  note: string | null;
}

const commitProgress = (
  run: ScanRun,
  steps: TransactionStep[],
  { counts, total, note }: ScanProgress,
): Promise<void> => {
  const { removed, ...looked } = counts;
  const done = Object.values(looked).reduce((sum, count) => sum + count, 0);
  return run.commit(steps, { checkpoint: null, progress: { done, total, unit: 'files', note } });
};

/** Returns null if the error is internal. */
const getScanFailureMessage = (error: unknown): string | null => {
  if (error instanceof WalkFailed) return error.message;
  return isDiskFull(error) ? 'The disk of the daemon is full' : null;
};

const readFolder = async (
  deps: ScanDeps,
  run: ScanRun,
  folder: KnowledgeFolderRow,
  progress: ScanProgress,
): Promise<void> => {
  const { userId, signal } = run;
  const { folders, admission, clock } = deps;
  const place = await admitFolder(deps, folder);
  const device = await findFolderDevice(folder);
  const { type } = folder;
  const patterns: string[] = JSON.parse(folder.patterns);
  const forbidden = admission.forbidden();
  const walked = await walkFolder({ place, type, patterns, forbidden, signal });
  const { files, unread, misnamed } = walked;
  progress.total = files.length + misnamed.length;
  const rows = await folders.files(userId, folder.id);
  if (files.length === 0 && rows.length > 0) refuseUnmounted(folder, device);
  const there = new Set([...files, ...misnamed].map(({ path }) => path));
  const isUnread = (path: string): boolean => unread.some((one) => path.startsWith(`${one}/`));
  const scan: FolderScan = {
    folder,
    place,
    run: { userId, signal },
    known: new Map(rows.filter(({ path }) => there.has(path)).map((row) => [row.path, row])),
    vanished: rows.filter(({ path }) => !there.has(path) && !isUnread(path)),
    unfinished: [],
    counts: progress.counts,
    commit: (steps) => commitProgress(run, steps, progress),
  };
  await readFiles(deps, scan, files, progress);
  for (const entry of misnamed) await recordInvalidName(deps, scan, entry);
  await removeVanished(deps, scan);
  const error = deps.watcher().faultOf(folder.id);
  progress.note = countsText(progress.counts);
  await scan.commit([folders.change(folder.id, { error, device, scanned_at: iso(clock.now()) })]);
};

/** An empty folder on another file system is probably not mounted. */
const refuseUnmounted = ({ device: before }: KnowledgeFolderRow, device: string | null): void => {
  if (before === null || device === before) return;
  throw new WalkFailed(
    'The folder is empty and on another file system than before. Check whether the file system is mounted',
  );
};

const countsText = (counts: ScanCounts): string => {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some.length === 0
    ? 'no files'
    : some.map(([what, count]) => `${count} ${what}`).join(', ');
};

/** Stops watching a folder that may no longer be read. */
const admitFolder = async (
  { admission, watcher }: ScanDeps,
  { id, user_id: userId, path }: KnowledgeFolderRow,
): Promise<RootedPath> => {
  const place = await admission.admit(userId, path);
  if (typeof place !== 'string') return place;
  await watcher().remove(id);
  throw new WalkFailed(place);
};

/**
 * Returns the device of a folder, or null if it does not exist. For a file, that of the nearest
 * existing folder above it.
 */
const findFolderDevice = async ({ path, type }: KnowledgeFolderRow): Promise<string | null> => {
  if (type === 'directory') return fileSystemAt(path);
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const device = await fileSystemAt(folder);
    if (device !== null || folder === dirname(folder)) return device;
  }
};

const fileSystemAt = async (path: string): Promise<string | null> =>
  stat(path).then(
    ({ dev }) => String(dev),
    () => null,
  );

const readFiles = async (
  deps: ScanDeps,
  scan: FolderScan,
  files: FolderEntry[],
  progress: ScanProgress,
): Promise<void> => {
  for (const file of files) {
    scan.run.signal.throwIfAborted();
    progress.note = file.path;
    if (isUnchanged(scan.known.get(file.path), file)) progress.counts.unchanged++;
    else await indexFolderFile(deps, scan, file);
  }
  progress.note = null;
  await finishFiles(deps, scan);
};

const removeVanished = async (
  { folders, texts }: ScanDeps,
  { run, vanished, counts, commit }: FolderScan,
): Promise<void> => {
  for (let at = 0; at < vanished.length; at += REMOVED_AT_ONCE) {
    const some = vanished.slice(at, at + REMOVED_AT_ONCE).map(({ id }) => id);
    counts.removed += some.length;
    await commit(folders.removal(run.userId, some));
    texts.changed();
  }
};
