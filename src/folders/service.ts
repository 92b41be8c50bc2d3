import { isAbsolute, resolve } from 'node:path';
import Boom from '@hapi/boom';
import picomatch from 'picomatch';
import { type Clock, iso } from '../kernel/clock.js';
import { ConfinedPathError, statInside } from '../kernel/confinedpath.js';
import type { Operation } from '../kernel/contract/operation.js';
import { mint } from '../kernel/ids.js';
import type { FieldFault } from '../kernel/problem.js';
import { throwIfFaults } from '../kernel/route.js';
import type { IndexedPath } from '../knowledge/module.js';
import type { OperationBeginner } from '../operations/module.js';
import type { KnowledgeFolderRow } from '../store/tables/folders.js';
import type { FolderAdmission } from './admission.js';
import { type FolderInput, scanRequest } from './changes.js';
import type { FoldersStore } from './queries.js';
import type { RootedPath } from './roots.js';
import { DaemonFolderError, refuseForbidden, WalkFailed } from './walk.js';
import type { FolderWatcher } from './watcher.js';

export interface FoldersDeps {
  clock: Clock;
  folders: FoldersStore;
  admission: FolderAdmission;
  scans: OperationBeginner<FolderInput>;
  watcher: FolderWatcher;
  inTurn<T>(of: string, work: () => Promise<T>): Promise<T>;
}

const MAX_FOLDERS = 100;

export const indexPath = async (
  deps: FoldersDeps,
  userId: string,
  request: IndexedPath,
): Promise<Operation> => {
  const hasNul = request.path.includes('\0');
  const fault = hasNul ? 'must not contain a NUL character' : 'must be absolute';
  throwIfFaults(isAbsolute(request.path) && !hasNul ? [] : [{ path: 'path', message: fault }]);
  // A folder has one path, however it is spelled.
  const path = resolve(request.path);
  throwIfFaults((request.patterns ?? []).flatMap(findPatternFaults));
  const place = await deps.admission.admit(userId, path);
  if (typeof place === 'string') throw Boom.forbidden(place, { code: 'not_indexable' });
  await refuseOwnFiles(deps, place);
  const type = await detectFolderType(place);
  const isOther = request.type !== undefined && request.type !== type;
  throwIfFaults(isOther ? [{ path: 'type', message: `does not match: ${path} is a ${type}` }] : []);
  return deps.inTurn(userId, () => begin(deps, userId, { ...request, path, type }));
};

/** An invalid pattern would match no file. */
const findPatternFaults = (pattern: string, place: number): FieldFault[] => {
  try {
    // An error in the resulting expression is only thrown with `debug`.
    picomatch.makeRe(pattern.replace(/^!/, ''), { strictBrackets: true, debug: true });
    return [];
  } catch {
    const message = `is not a valid pattern: ${pattern} (put a \\ before a literal bracket)`;
    return [{ path: `patterns.${place}`, message }];
  }
};

/** Throws 403 if another path, such as a mount, leads to files of the daemon. */
const refuseOwnFiles = async ({ admission }: FoldersDeps, place: RootedPath): Promise<void> => {
  try {
    await refuseForbidden(place, admission.forbidden());
  } catch (error) {
    if (error instanceof DaemonFolderError)
      throw Boom.forbidden(error.message, { code: 'not_indexable' });
    // Other errors of the path are reported when its type is determined.
    if (!(error instanceof WalkFailed)) throw error;
  }
};

const detectFolderType = async ({
  root,
  below,
}: RootedPath): Promise<KnowledgeFolderRow['type']> => {
  const refused = (message: string) => throwIfFaults([{ path: 'path', message }]);
  try {
    const entry = below === '' ? null : await statInside(root, below);
    if (below === '' || entry?.kind === 'folder') return 'directory';
    if (entry?.kind !== 'file')
      refused(entry ? 'is neither a file nor a folder' : 'does not exist');
  } catch (error) {
    if (error instanceof ConfinedPathError) refused(`/${error.message}`);
    throw error;
  }
  return 'file';
};

type PathToIndex = IndexedPath & { type: KnowledgeFolderRow['type'] };

const begin = async (
  deps: FoldersDeps,
  userId: string,
  request: PathToIndex,
): Promise<Operation> => {
  const { folders, clock, scans, watcher } = deps;
  const before = await folders.atPath(userId, request.path);
  if (!before && (await folders.count(userId)) >= MAX_FOLDERS) {
    throw Boom.conflict(
      `You already have ${MAX_FOLDERS} indexed folders, the maximum. Delete one first`,
    );
  }
  const id = before?.id ?? mint('folder', clock.now());
  const settings = mergeFolderSettings(request, before);
  const operation = await scans.begin(
    scanRequest({ id, user_id: userId, path: request.path }),
    (begun) => [
      before
        ? folders.change(id, { ...settings, operation_id: begun.id })
        : folders.insert({
            ...settings,
            id,
            user_id: userId,
            path: request.path,
            device: null,
            operation_id: begun.id,
            error: null,
            created_at: iso(clock.now()),
            scanned_at: null,
          }),
      ...(before && before.tags !== settings.tags ? [folders.forgetSizes(userId, id)] : []),
    ],
  );
  const row = await folders.get(userId, id);
  if (row?.watch === 1) await watcher.add(row);
  else await watcher.remove(id);
  return operation;
};

const mergeFolderSettings = (
  { type, patterns, tags, watch }: PathToIndex,
  before: KnowledgeFolderRow | undefined,
): Pick<KnowledgeFolderRow, 'type' | 'patterns' | 'tags' | 'watch'> => ({
  type,
  patterns: patterns === undefined ? (before?.patterns ?? '[]') : JSON.stringify(patterns),
  tags: tags === undefined ? (before?.tags ?? '[]') : JSON.stringify(tags),
  watch: watch === undefined ? (before?.watch ?? 0) : Number(watch),
});
