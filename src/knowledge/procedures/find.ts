import type Database from 'better-sqlite3';
import type { KnowledgeEntryRow } from '../../store/tables/knowledge.js';
import type { KnowledgeFilter } from './filter.js';
import { FUSED_HITS, fuseHits, type RankedHit, scoreSemanticHits } from './fuse.js';
import { nearestChunks } from './nearest.js';
import { type ParsedQuery, parseQuery } from './query.js';
import { oncePerDatabase, type SearchDatabases } from './searchdb.js';
import { createChunkSnippet } from './snippet.js';
import type { Hit } from './titlerepeats.js';
import { hitFinder, type IndexOwner } from './wordhits.js';

export interface QueryMeaning {
  embedder: number;
  vector: Uint8Array;
  weight: number;
  leastLikeness: number;
}

export interface FindRequest {
  home: string;
  userId: string;
  query: string;
  filter: KnowledgeFilter;
  limit: number;
  /** `null` for a keyword search. */
  meaning: QueryMeaning | null;
  /** False for a semantic search. */
  byWords: boolean;
}

export interface FoundChunk {
  entryId: string;
  chunk: number;
  title: string;
  sourceType: KnowledgeEntryRow['source_type'];
  sourceId: string | null;
  uri: string | null;
  page: number | null;
  snippet: string;
  /** Start and end of each match in the snippet, in UTF-16 code units. */
  highlights: [number, number][];
  /** From 0 to 1, relative to the other results. */
  score: number;
  /**
   * `word`: contains words of the query. `part`: contains parts of words. `meaning`: has a similar
   * vector.
   */
  matched: ('word' | 'part' | 'meaning')[];
  trust: KnowledgeEntryRow['trust'];
  text: string;
}

/** `results` is null if the query contains no search word. */
export interface Found {
  results: FoundChunk[] | null;
  /** Whether the index is being rebuilt and incomplete. */
  isPartial: boolean;
  /** False if vectors cannot be compared on this machine. */
  comparesVectors: boolean;
}

/** Extra hits that replace entries that were deleted in the meantime. */
const SPARE_HITS = 10;

export const findChunks = async (
  databases: SearchDatabases,
  request: FindRequest,
): Promise<Pick<Found, 'results'>> => {
  const { userId, limit } = request;
  const parsed = await parseQuery(request.query);
  if (!parsed) return { results: null };
  const hits = readConsistently(databases.search, () => {
    const owner = findOwner(databases.search, userId);
    return owner && findHits(databases.search, owner, { request, parsed });
  });
  if (!hits) return { results: [] };
  const { words, parts, meaning } = hits;
  const meaningWeight = request.meaning?.weight ?? 0;
  const ranked = request.byWords
    ? fuseHits({ words, parts, meaning, meaningWeight })
    : scoreSemanticHits(meaning);
  const marks = { ...parsed.marks, parts: parts.length > 0 ? parsed.parts : [] };
  const read = chunkReader(databases.main, userId);
  const results: FoundChunk[] = [];
  for (const hit of ranked) {
    if (results.length === limit) break;
    const row = read(hit);
    if (row) results.push({ ...row, ...shownHit(hit), ...createChunkSnippet(row.text, marks) });
  }
  return { results };
};

/** Reads a consistent state, because tables of an owner may be dropped at any time. */
export const readConsistently = <T>(search: Database.Database, read: () => T): T =>
  search.transaction(read)();

export const findOwner = (search: Database.Database, userId: string): IndexOwner | undefined =>
  ownerRow(search).get(userId);

const ownerRow = oncePerDatabase((search) =>
  search.prepare<[string], IndexOwner>('SELECT id, chunks FROM owners WHERE user_id = ?'),
);

const shownHit = ({ entryId, number, score, matched }: RankedHit) => ({
  entryId,
  chunk: number,
  score,
  matched,
});

const findHits = (
  search: Database.Database,
  owner: IndexOwner,
  { request, parsed }: { request: FindRequest; parsed: ParsedQuery },
): Record<'words' | 'parts' | 'meaning', Hit[]> => {
  const { filter, limit, meaning, byWords } = request;
  const depth = meaning ? Math.max(FUSED_HITS, limit + SPARE_HITS) : limit + SPARE_HITS;
  const finder = hitFinder(search, { owner, filter, limit, depth });
  const words = byWords ? finder.words(parsed) : [];
  const isShort = byWords && words.length < limit && parsed.phrases.length === 0;
  return {
    words,
    parts: isShort ? finder.parts(parsed) : [],
    meaning: meaning
      ? nearestChunks(search, { ...meaning, owner, filter, terms: parsed, limit: depth })
      : [],
  };
};

/** Reads the current state. Chunks that were deleted since indexing are skipped. */
const chunkReader = (main: Database.Database, userId: string) => {
  const row = chunkRow(main);
  return ({ entryId, number }: Hit) => row.get(userId, entryId, number);
};

const chunkRow = oncePerDatabase((main) =>
  main.prepare<
    [string, string, number],
    Omit<FoundChunk, 'entryId' | 'chunk' | 'snippet' | 'highlights' | 'score' | 'matched'>
  >(
    `SELECT e.title, e.source_type AS sourceType, e.source_id AS sourceId, e.uri, e.trust,
        c.page, c.text
      FROM knowledge_chunks AS c JOIN knowledge_entries AS e ON e.id = c.entry_id
      WHERE c.user_id = ? AND c.entry_id = ? AND c.number = ?`,
  ),
);
