import { readFileSync } from 'node:fs';
import type Database from 'better-sqlite3';
import type { AuditHead, ThreadOptions } from '../engine/protocol.js';
import {
  findContradictedHeads,
  type HeadChunk,
  headsIn,
  readChunk,
  readTail,
} from './headlines.js';
import { type CheckpointFile, headPlaces } from './headplaces.js';

type HeadsLocation = Pick<ThreadOptions, 'home' | 'auditHeads'>;

export interface HeadsFound {
  name: string;
  /** Heads missing in the database, oldest first. */
  heads: AuditHead[];
  failure: string | null;
  next: HeadsPlace | null;
}

export interface HeadsPlace {
  place: number;
  from: number;
}

export interface HeadsState {
  name: string;
  newest: number | null;
  failure: string | null;
}

/**
 * Reads some hundred lines at a time. A file is read before the database, because it is never ahead
 * of it.
 */
export const contradictedHeads = (db: Database.Database, options: HeadsLocation) => {
  const places = headPlaces(db, options);
  return ({ place, from }: HeadsPlace): HeadsFound => {
    const at = places[place];
    if (!at) return { name: '', heads: [], failure: null, next: null };
    const after = place + 1 < places.length ? { place: place + 1, from: 0 } : null;
    const state = from === 0 ? readHeadsState(at) : null;
    if (state?.newest === null) {
      return { name: at.name, heads: [], failure: state.failure, next: after };
    }
    const chunk = attempt(() => read(at, from));
    if ('failure' in chunk) return { name: at.name, heads: [], ...chunk, next: after };
    return {
      name: at.name,
      heads: findContradictedHeads(db, chunk.heads),
      failure: null,
      next: chunk.next === null ? after : { place, from: chunk.next },
    };
  };
};

/** The file in the home is sometimes rewritten, so it is consistent only if read at once. */
const read = ({ file, isOwn }: CheckpointFile, from: number): HeadChunk =>
  isOwn ? { heads: headsIn(readFileSync(file, 'latin1')), next: null } : readChunk(file, from);

export const headsState = (db: Database.Database, options: HeadsLocation) => {
  const places = headPlaces(db, options);
  return (_: undefined): HeadsState[] => places.map(readHeadsState);
};

const readHeadsState = ({ file, name, isDue }: CheckpointFile): HeadsState => {
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
