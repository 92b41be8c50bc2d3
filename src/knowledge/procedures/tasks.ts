import { splitIntoBatches, takeBatch } from './batches.js';
import { type FindRequest, type Found, findChunks, findOwner, readConsistently } from './find.js';
import { forgetKnownWords } from './indexwriter.js';
import { mergeWords } from './merge.js';
import { nearestChunks } from './nearest.js';
import {
  indexInode,
  isDamage,
  oncePerDatabase,
  openToSearch,
  openToWrite,
  removeIndex,
  type SearchDatabases,
} from './searchdb.js';
import { applyChanges, type SyncReport } from './sync.js';

let writing: SearchDatabases | null = null;
let searching: SearchDatabases | null = null;

const close = (databases: SearchDatabases | null): void => {
  databases?.search.close();
  databases?.main.close();
};

const sync = ({ home }: { home: string }): SyncReport => {
  try {
    if (writing && writing.inode !== indexInode(home)) writing = dropped(writing);
    writing ??= openToWrite(home);
    return applyChanges(writing);
  } catch (error) {
    forgetKnownWords();
    writing = dropped(writing);
    if (!isDamage(error)) throw error;
    removeIndex(home);
    return { seq: 0, isLeft: true, isPartial: true };
  }
};

/** Returns true if more is left. A damaged index is left to `sync`. */
const merge = ({ home }: { home: string }): boolean =>
  writing?.inode === indexInode(home) && mergeWords(writing.search);

const dropped = (databases: SearchDatabases | null): null => {
  close(databases);
  return null;
};

type LostFind = Found & { isLost: boolean };

/** Result if the index is missing or damaged. It must be rebuilt. */
const LOST: LostFind = { results: [], isPartial: true, isLost: true, comparesVectors: true };

const find = (request: FindRequest): Promise<LostFind> =>
  searchIn<LostFind>(request.home, LOST, async (databases) => {
    const { comparesVectors } = databases;
    const meaning = comparesVectors ? request.meaning : null;
    const { results } = await findChunks(databases, { ...request, meaning });
    return { results, isPartial: isPartial(databases), isLost: false, comparesVectors };
  });

export interface NearestEntry {
  home: string;
  userId: string;
  entryId: string;
  embedder: number;
  vector: Uint8Array;
}

const nearest = ({ home, userId, entryId, ...by }: NearestEntry): Promise<boolean> =>
  searchIn(home, false, async ({ search }) =>
    readConsistently(search, () => {
      const owner = findOwner(search, userId);
      if (!owner) return false;
      const terms = { phrases: [], excluded: [] };
      const filter = { entryIds: [entryId] };
      return (
        nearestChunks(search, { ...by, owner, filter, leastLikeness: 0, terms, limit: 1 }).length >
        0
      );
    }),
  );

const searchIn = async <T>(
  home: string,
  lost: T,
  search: (databases: SearchDatabases) => Promise<T>,
): Promise<T> => {
  try {
    if (searching && searching.inode !== indexInode(home)) searching = dropped(searching);
    searching ??= openToSearch(home);
    return searching ? await search(searching) : lost;
  } catch (error) {
    searching = dropped(searching);
    if (!isDamage(error)) throw error;
    removeIndex(home);
    return lost;
  }
};

const isPartial = ({ search }: SearchDatabases): boolean => wholeIndexes(search).get() === 0;

const wholeIndexes = oncePerDatabase((search) =>
  search
    .prepare<[], number>(
      `SELECT count(*) FROM state WHERE key = 'changes' AND value ->> 'rebuiltTo' IS NULL`,
    )
    .pluck(),
);

export const knowledgeTasks = { sync, merge, find, nearest, splitIntoBatches, takeBatch };
