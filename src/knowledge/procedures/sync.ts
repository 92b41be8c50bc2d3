import type Database from 'better-sqlite3';
import { forgetKnownWords, indexWriter } from './indexwriter.js';
import { dropOwner, type SearchDatabases } from './searchdb.js';
import { dropVectorTables, vectorTables } from './vectors.js';

const STEP_MS = 200;

export interface SyncReport {
  seq: number;
  isLeft: boolean;
  /** Whether the index is being rebuilt and incomplete. */
  isPartial: boolean;
}

type Databases = Pick<SearchDatabases, 'search' | 'main'>;

interface Change {
  seq: number;
  mark: string;
  entry_id: string;
  kind: 'entry' | 'vectors' | 'owner';
}

/** Last applied change, and the entry up to which the index is rebuilt. */
interface IndexState {
  seq: number;
  mark: string;
  rebuiltTo: string | null;
}

/**
 * Applies changes of the main database for a limited time. An index of another database, such as
 * before a rollback, is rebuilt.
 */
export const applyChanges = ({ search, main }: SearchDatabases): SyncReport => {
  const state = readState(search);
  const last = main
    .prepare<[], Change>(
      'SELECT seq, mark, entry_id, kind FROM knowledge_changes ORDER BY seq DESC LIMIT 1',
    )
    .get();
  if (!state || !belongs(main, state)) {
    reset(search, last);
    return { seq: last?.seq ?? 0, isLeft: true, isPartial: true };
  }
  const until = performance.now() + STEP_MS;
  const isRebuilt = state.rebuiltTo === null || rebuild({ search, main }, state, until);
  const isDone = isRebuilt && apply({ search, main }, state, until);
  writeState(search, state);
  return { seq: state.seq, isLeft: !isDone, isPartial: state.rebuiltTo !== null };
};

const readState = (search: Database.Database): IndexState | null => {
  const value = search
    .prepare<[], string>(`SELECT value FROM state WHERE key = 'changes'`)
    .pluck()
    .get();
  return value === undefined ? null : JSON.parse(value);
};

const writeState = (search: Database.Database, state: IndexState): void => {
  search
    .prepare(`INSERT OR REPLACE INTO state (key, value) VALUES ('changes', ?)`)
    .run(JSON.stringify(state));
};

/** Whether the last applied change comes from this database. */
const belongs = (main: Database.Database, { seq, mark }: IndexState): boolean => {
  const find = main.prepare<[number], string>('SELECT mark FROM knowledge_changes WHERE seq = ?');
  if (seq > 0) return find.pluck().get(seq) === mark;
  const first = main.prepare<[], number>('SELECT min(seq) FROM knowledge_changes').pluck().get();
  return (first ?? 1) === 1;
};

const reset = (search: Database.Database, last: Change | undefined): void => {
  forgetKnownWords();
  search.transaction(() => {
    for (const tables of vectorTables(search)) dropVectorTables(search, tables);
    const owners = search.prepare<[], number>('SELECT id FROM owners').pluck().all();
    for (const owner of owners) dropOwner(search, owner);
    search.exec('DELETE FROM entries; DELETE FROM chunks;');
    writeState(search, { seq: last?.seq ?? 0, mark: last?.mark ?? '', rebuiltTo: '' });
  })();
};

const rebuild = ({ search, main }: Databases, state: IndexState, until: number): boolean => {
  const next = main.prepare<[string], string>(
    'SELECT id FROM knowledge_entries WHERE id > ? AND chunks > 0 ORDER BY id LIMIT 1',
  );
  const write = indexWriter(search, main);
  while (state.rebuiltTo !== null && performance.now() < until) {
    const id = next.pluck().get(state.rebuiltTo);
    search.transaction(() => {
      if (id !== undefined) write.put(id);
      state.rebuiltTo = id ?? null;
      writeState(search, state);
    })();
  }
  return state.rebuiltTo === null;
};

const apply = ({ search, main }: Databases, state: IndexState, until: number): boolean => {
  const next = main.prepare<[number], Change>(
    'SELECT seq, mark, entry_id, kind FROM knowledge_changes WHERE seq > ? ORDER BY seq LIMIT 64',
  );
  const write = indexWriter(search, main);
  const writers = {
    entry: write.put,
    vectors: write.putVectors,
    owner: write.removeOtherVectors,
  };
  for (;;) {
    const changes = next.all(state.seq);
    const [first] = changes;
    if (!first) return true;
    if (performance.now() >= until) return false;
    search.transaction(() => {
      const applied = new Set<string>();
      for (const { seq, mark, entry_id, kind } of changes) {
        if (applied.size > 0 && performance.now() >= until) break;
        if (!applied.has(`${kind} ${entry_id}`)) writers[kind](entry_id);
        applied.add(`${kind} ${entry_id}`);
        state.seq = seq;
        state.mark = mark;
      }
      writeState(search, state);
    })();
  }
};
