import { type FindRequest, type Found, findChunks } from './find.js';
import { forgetKnownWords } from './indexwriter.js';
import { languageOf } from './language.js';
import {
  indexInode,
  isDamage,
  openToSearch,
  openToWrite,
  removeIndex,
  type SearchDatabases,
} from './searchdb.js';
import { type SplitChunks, splitIntoChunks, type TextToSplit } from './split.js';
import { type SyncReport, takeChanges } from './sync.js';

let writing: SearchDatabases | null = null;
let searching: SearchDatabases | null = null;

const close = (databases: SearchDatabases | null): void => {
  databases?.search.close();
  databases?.main.close();
};

/** Takes over changes of the main database. A damaged index is made anew. */
const sync = ({ home }: { home: string }): SyncReport => {
  try {
    if (writing && writing.inode !== indexInode(home)) writing = dropped(writing);
    writing ??= openToWrite(home);
    return takeChanges(writing);
  } catch (error) {
    forgetKnownWords();
    writing = dropped(writing);
    if (!isDamage(error)) throw error;
    removeIndex(home);
    return { seq: 0, isLeft: true, isPartial: true };
  }
};

const dropped = (databases: SearchDatabases | null): null => {
  close(databases);
  return null;
};

/** A search of an index that is missing or damaged: it is to be made anew. */
const LOST = { results: [], isPartial: true, isLost: true };

/** Searches the index of the home. */
const find = async (request: FindRequest): Promise<Found & { isLost: boolean }> => {
  try {
    if (searching && searching.inode !== indexInode(request.home)) searching = dropped(searching);
    searching ??= openToSearch(request.home);
    if (!searching) return LOST;
    const { results } = await findChunks(searching, request);
    return { results, isPartial: isPartial(searching), isLost: false };
  } catch (error) {
    searching = dropped(searching);
    if (!isDamage(error)) throw error;
    removeIndex(request.home);
    return LOST;
  }
};

const isPartial = ({ search }: SearchDatabases): boolean =>
  search
    .prepare<[], number>(
      `SELECT count(*) FROM state WHERE key = 'changes' AND value ->> 'rebuiltTo' IS NULL`,
    )
    .pluck()
    .get() === 0;

/** Splits a text into chunks, and finds out its language. */
const split = (text: TextToSplit): Promise<SplitChunks & { language: string | null }> =>
  languageOf(text.text).then((language) => ({ ...splitIntoChunks(text), language }));

/** The tasks of the threads of knowledge. */
export const knowledgeTasks = { sync, find, split };
