import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FileTooLarge, type ServerFileCopy, type ServerFiles } from '../documents/module.js';
import type { Clock } from '../kernel/clock.js';
import {
  ConfinedPathError,
  type FolderEntry,
  formatChangeStamp,
  type MisnamedEntry,
  openInside,
} from '../kernel/confinedpath.js';
import { errorCode, errorReason } from '../kernel/failure.js';
import { mint } from '../kernel/ids.js';
import type { KnowledgeLabels, KnowledgeTexts } from '../knowledge/module.js';
import type { OperationRun } from '../operations/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { KnowledgeFileRow, KnowledgeFolderRow } from '../store/tables/folders.js';
import {
  type FoldersStore,
  formatFileStamp,
  isReadAsFarAsPossible,
  UNKNOWN_SIZE,
} from './queries.js';
import type { RootedPath } from './roots.js';

export interface ScanCounts {
  unchanged: number;
  read: number;
  moved: number;
  failed: number;
  skipped: number;
  removed: number;
}

export interface FolderScan {
  folder: KnowledgeFolderRow;
  place: RootedPath;
  run: Pick<OperationRun<unknown, null>, 'userId' | 'signal'>;
  known: Map<string, KnowledgeFileRow>;
  /** Rows of files that no longer exist. */
  vanished: KnowledgeFileRow[];
  /** Files whose entries are written but not verified by a search yet. */
  unfinished: { row: KnowledgeFileRow; entryId: string }[];
  counts: ScanCounts;
  commit(steps: TransactionStep[]): Promise<void>;
}

export interface FilesDeps {
  folders: FoldersStore;
  files: ServerFiles;
  texts: KnowledgeTexts;
  clock: Clock;
}

const FINISHED_AT_ONCE = 20;
const MAX_URI_LENGTH = 4000;

export const isUnchanged = (row: KnowledgeFileRow | undefined, file: FolderEntry): boolean =>
  row !== undefined &&
  row.status !== 'pending' &&
  row.bytes === file.size &&
  row.modified_ms === file.modifiedMs &&
  row.stamp === formatFileStamp(row, file.stamp);

/** Reads a new or changed file and stores its text as an entry. */
export const indexFolderFile = async (
  deps: FilesDeps,
  scan: FolderScan,
  file: FolderEntry,
): Promise<void> => {
  const { place, run } = scan;
  const path = buildEntryPath(scan, file);
  try {
    await openInside(place.root, path, (handle, stats) => {
      const { size, mtimeMs } = stats;
      const now = {
        ...file,
        size,
        modifiedMs: Math.trunc(mtimeMs),
        stamp: formatChangeStamp(stats),
      };
      const opened = { handle, bytes: size, name: basename(path), ...run };
      return deps.files.take(opened, (taken) =>
        'reason' in taken
          ? refuse(deps, scan, now, {
              status: 'skipped',
              error: taken.reason === null ? null : `The file ${taken.reason}`,
              sha256: null,
            })
          : keep(deps, scan, now, taken),
      );
    });
  } catch (error) {
    run.signal.throwIfAborted();
    await recordUnreadable(deps, scan, file, error);
  }
};

export const recordInvalidName = async (
  deps: FilesDeps,
  scan: FolderScan,
  { path, kind }: MisnamedEntry,
): Promise<void> => {
  const what = kind === 'folder' ? 'folder' : 'file';
  const error = `The ${what} was skipped because its name is not valid UTF-8`;
  if (scan.known.get(path)?.error === error) return void scan.counts.unchanged++;
  const none = { size: 0, modifiedMs: 0, identity: '', stamp: '' };
  await refuse(deps, scan, { path, kind, ...none }, { status: 'failed', error, sha256: null });
};

export const finishFiles = async (deps: FilesDeps, scan: FolderScan): Promise<void> => {
  if (scan.unfinished.length === 0) return;
  const steps: TransactionStep[] = [];
  for (const { row, entryId } of scan.unfinished.splice(0)) {
    const fault = await deps.texts.finish(scan.run.userId, entryId);
    scan.counts[fault === null ? 'read' : 'failed']++;
    const end =
      fault === null
        ? { status: 'ready' as const }
        : { status: 'failed' as const, error: `The file cannot be searched: ${fault}` };
    steps.push(deps.folders.keepFile({ ...row, ...end }));
  }
  await scan.commit(steps);
};

const buildEntryPath = ({ folder, place }: FolderScan, { path }: FolderEntry): string => {
  if (folder.type === 'file') return place.below;
  return place.below === '' ? path : `${place.below}/${path}`;
};

const keep = async (
  deps: FilesDeps,
  scan: FolderScan,
  file: FolderEntry,
  taken: ServerFileCopy,
): Promise<void> => {
  const { folders } = deps;
  const { sha256 } = taken;
  const before = scan.known.get(file.path);
  if (before && isReadAsFarAsPossible(before) && before.sha256 === sha256) {
    scan.counts.unchanged++;
    return scan.commit([
      folders.keepFile(buildFileRow(deps, scan, file, before)),
      ...deps.texts.relabel(scan.run.userId, toFileSource(before), buildFileLabels(scan, file)),
    ]);
  }
  const at = scan.vanished.findIndex((row) => row.status === 'ready' && row.sha256 === sha256);
  const [moved] = at < 0 ? [] : scan.vanished.splice(at, 1);
  if (moved) return move(deps, scan, file, moved);
  const text = await taken.text();
  if ('failure' in text) {
    return refuse(deps, scan, file, { status: 'failed', error: text.failure, sha256 });
  }
  const row = { ...buildFileRow(deps, scan, file, before), sha256, error: text.note };
  const { id, transactions } = await deps.texts.prepare({
    userId: scan.run.userId,
    sourceType: 'file',
    sourceId: row.id,
    ...buildFileLabels(scan, file),
    trust: 'outside',
    text: text.text,
  });
  // Counts as not read until its entry can be searched, so that an interrupted scan reads it again.
  const pending = [folders.keepFile({ ...row, status: 'pending' })];
  for await (const steps of transactions) await scan.commit([...pending.splice(0), ...steps]);
  scan.known.set(file.path, row);
  scan.unfinished.push({ row, entryId: id });
  if (scan.unfinished.length >= FINISHED_AT_ONCE) await finishFiles(deps, scan);
};

const buildFileRow = (
  { clock }: FilesDeps,
  { folder }: FolderScan,
  { path, size, modifiedMs, stamp }: FolderEntry,
  before: KnowledgeFileRow | undefined,
): KnowledgeFileRow => ({
  id: before?.id ?? mint('file', clock.now()),
  user_id: folder.user_id,
  folder_id: folder.id,
  path,
  bytes: size,
  modified_ms: modifiedMs,
  stamp,
  sha256: before?.sha256 ?? null,
  status: before?.status ?? 'pending',
  error: before?.error ?? null,
});

const toFileSource = ({ id }: KnowledgeFileRow) => ({ type: 'file' as const, id });

const buildFileLabels = (scan: FolderScan, file: FolderEntry): KnowledgeLabels => {
  const path = buildEntryPath(scan, file);
  const uri = pathToFileURL(join(scan.place.root, path)).href;
  const tags = JSON.parse(scan.folder.tags);
  return {
    title: basename(path).normalize('NFC'),
    uri: uri.length > MAX_URI_LENGTH ? null : uri,
    tags,
  };
};

/** Keeps the entry of a moved file. Its text is not read again. */
const move = async (
  deps: FilesDeps,
  scan: FolderScan,
  file: FolderEntry,
  moved: KnowledgeFileRow,
): Promise<void> => {
  const { userId } = scan.run;
  const replaced = scan.known.get(file.path);
  scan.counts.moved++;
  await scan.commit([
    ...(replaced ? deps.folders.removal(userId, [replaced.id]) : []),
    deps.folders.keepFile(buildFileRow(deps, scan, file, moved)),
    ...deps.texts.relabel(userId, toFileSource(moved), buildFileLabels(scan, file)),
  ]);
};

const refuse = async (
  deps: FilesDeps,
  scan: FolderScan,
  file: FolderEntry,
  result: Pick<KnowledgeFileRow, 'status' | 'error' | 'sha256'>,
): Promise<void> => {
  const row = { ...buildFileRow(deps, scan, file, scan.known.get(file.path)), ...result };
  scan.counts[result.status === 'skipped' ? 'skipped' : 'failed']++;
  await scan.commit([
    deps.texts.removal(scan.run.userId, 'file', row.id),
    deps.folders.keepFile(row),
  ]);
};

/** Keeps the earlier text. The next scan tries the file again. */
const recordUnreadable = async (
  deps: FilesDeps,
  scan: FolderScan,
  file: FolderEntry,
  error: unknown,
): Promise<void> => {
  if (error instanceof FileTooLarge) {
    const { message } = error;
    return refuse(deps, scan, file, { status: 'failed', error: message, sha256: null });
  }
  const isOfFile =
    error instanceof ConfinedPathError || /^(EIO|EBUSY|ESTALE)$/.test(errorCode(error));
  if (!isOfFile) throw error;
  scan.counts.failed++;
  const row = buildFileRow(deps, scan, { ...file, size: UNKNOWN_SIZE }, scan.known.get(file.path));
  const failure = { status: 'failed' as const, error: errorReason(error) };
  await scan.commit([deps.folders.keepFile({ ...row, ...failure })]);
};
