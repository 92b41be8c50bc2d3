import { readFileSync } from 'node:fs';
import type Database from 'better-sqlite3';
import type { AuditHead, ThreadOptions } from '../engine/protocol.js';
import { contradictedOf, type HeadChunk, headsIn, readChunk, readTail } from './headlines.js';
import { type HeadPlace, headPlaces } from './headplaces.js';

type HeadsLocation = Pick<ThreadOptions, 'home' | 'auditHeads'>;

/** What one file of heads says against the database, as far as it was read. */
export interface HeadsFound {
  /** What messages call the file. */
  name: string;
  /** Those that the database does not hold, oldest first. */
  heads: AuditHead[];
  /** Why the file tells nothing. */
  failure: string | null;
  /** Where to go on; null: at the end of the last file. */
  next: HeadsPlace | null;
}

/** Which of the files, and from where in it. */
export interface HeadsPlace {
  place: number;
  from: number;
}

/** What is in a file of heads now. */
export interface HeadsState {
  name: string;
  /** Number of the newest head; null: none is due yet, or none can be read. */
  newest: number | null;
  failure: string | null;
}

/**
 * What the files of heads know and the database does not, some hundred lines at a time. A file is
 * read before the database, which it is never ahead of.
 */
export const contradictedHeads = (db: Database.Database, options: HeadsLocation) => {
  const places = headPlaces(db, options);
  return ({ place, from }: HeadsPlace): HeadsFound => {
    const at = places[place];
    if (!at) return { name: '', heads: [], failure: null, next: null };
    const after = place + 1 < places.length ? { place: place + 1, from: 0 } : null;
    const state = from === 0 ? stateOf(at) : null;
    if (state?.newest === null) {
      return { name: at.name, heads: [], failure: state.failure, next: after };
    }
    const chunk = attempt(() => read(at, from));
    if ('failure' in chunk) return { name: at.name, heads: [], ...chunk, next: after };
    return {
      name: at.name,
      heads: contradictedOf(db, chunk.heads),
      failure: null,
      next: chunk.next === null ? after : { place, from: chunk.next },
    };
  };
};

/** That of a home is short, and written anew now and then: only at once is it whole. */
const read = ({ file, isOwn }: HeadPlace, from: number): HeadChunk =>
  isOwn ? { heads: headsIn(readFileSync(file, 'latin1')), next: null } : readChunk(file, from);

/** How each file of heads is. */
export const headsState = (db: Database.Database, options: HeadsLocation) => {
  const places = headPlaces(db, options);
  return (_: undefined): HeadsState[] => places.map(stateOf);
};

const stateOf = ({ file, name, isDue }: HeadPlace): HeadsState => {
  const isOptional = isDue();
  const heads = attempt(() => readTail(file));
  if ('failure' in heads) {
    const failure = isOptional && /^ENOENT/.test(heads.failure) ? null : heads.failure;
    return { name, newest: null, failure };
  }
  const newest = heads.at(-1)?.number ?? null;
  return { name, newest, failure: newest === null && !isOptional ? `${file} is empty` : null };
};

const attempt = <T extends object>(work: () => T): T | { failure: string } => {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return { failure: error.message };
  }
};
