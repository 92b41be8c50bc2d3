import type Database from 'better-sqlite3';
import type { KnowledgeEntryRow } from '../../store/tables/knowledge.js';
import { type ParsedQuery, parseQuery, type QueryWord } from './query.js';
import { ofOwner, type SearchDatabases } from './searchdb.js';
import { snippetOf } from './snippet.js';

/** The entries that a search is narrowed to. Times are ISO 8601. */
export interface KnowledgeFilter {
  sourceType?: string[] | undefined;
  /** The tags that an entry must all have. */
  tags?: string[] | undefined;
  trust?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  entryIds?: string[] | undefined;
}

export interface FindRequest {
  home: string;
  userId: string;
  query: string;
  filter: KnowledgeFilter;
  limit: number;
}

/** A chunk that was found. */
export interface FoundChunk {
  entryId: string;
  chunk: number;
  title: string;
  sourceType: KnowledgeEntryRow['source_type'];
  uri: string | null;
  page: number | null;
  snippet: string;
  /** The places of what matched in the snippet, in UTF-16 code units. */
  highlights: [number, number][];
  /** From 0 to 1, by the rank. */
  score: number;
  /** `word`: words of the query stand in it; `part`: parts of words do. */
  matched: ('word' | 'part' | 'meaning')[];
  trust: KnowledgeEntryRow['trust'];
  /** The whole text. */
  text: string;
}

/** The result of a search: chunks, the best first, or null if nothing can be searched for. */
export interface Found {
  results: FoundChunk[] | null;
  /** True if the index is being made anew and does not have all entries. */
  isPartial: boolean;
}

/** Ours: the constant of fused ranks (Cormack, Clarke, Büttcher: Reciprocal Rank Fusion, 2009). */
const RANK_CONSTANT = 60;
/** The weights of the columns title, words and grams; measured over CISI. */
const WEIGHTS = '2.0, 1.0, 1.0';
/**
 * Ours: the chunks that are ranked for a query of many common words. Those that have none of its
 * rarest words are looked at only if there are too few others.
 */
const MOST_RANKED = 2000;
/** The most words of an owner that are searched for as those that contain a part. */
const MOST_PARTS = 32;

/** A chunk of the index. */
interface Hit {
  entryId: string;
  number: number;
}

/** Finds the chunks of a user that fit a query best. */
export const findChunks = async (
  databases: SearchDatabases,
  { userId, query, filter, limit }: FindRequest,
): Promise<Pick<Found, 'results'>> => {
  const parsed = await parseQuery(query);
  if (!parsed) return { results: null };
  const owner = databases.search
    .prepare<[string], IndexOwner>('SELECT id, chunks FROM owners WHERE user_id = ?')
    .get(userId);
  if (!owner) return { results: [] };
  const search = hitFinder(databases.search, { owner, filter, limit });
  const byWords = search.words(parsed);
  const wanted = limit - byWords.length;
  const parts = wanted > 0 && parsed.phrases.length === 0 ? search.parts(parsed) : null;
  const seen = new Set(byWords.map(keyOf));
  const byParts = (parts?.hits ?? []).filter((hit) => !seen.has(keyOf(hit)));
  const marks = { ...parsed.marks, parts: parts ? parsed.parts : [] };
  const read = chunkReader(databases.main, userId);
  const results: FoundChunk[] = [];
  for (const hit of [...byWords, ...byParts]) {
    if (results.length === limit) break;
    const row = read(hit);
    if (!row) continue;
    results.push({
      ...row,
      entryId: hit.entryId,
      chunk: hit.number,
      ...snippetOf(row.text, marks),
      score: (RANK_CONSTANT + 1) / (RANK_CONSTANT + results.length + 1),
      matched: [seen.has(keyOf(hit)) ? 'word' : 'part'],
    });
  }
  return { results };
};

interface IndexOwner {
  id: number;
  chunks: number;
}

interface HitOptions {
  owner: IndexOwner;
  filter: KnowledgeFilter;
  limit: number;
}

const keyOf = ({ entryId, number }: Hit): string => `${entryId} ${number}`;

/** Reads chunks as they are now: one that is gone since it was indexed is not shown. */
const chunkReader = (main: Database.Database, userId: string) => {
  const row = main.prepare<
    [string, string, number],
    Omit<FoundChunk, 'entryId' | 'chunk' | 'snippet' | 'highlights' | 'score' | 'matched'>
  >(
    `SELECT e.title, e.source_type AS sourceType, e.uri, c.page, e.trust, c.text
      FROM knowledge_chunks AS c JOIN knowledge_entries AS e ON e.id = c.entry_id
      WHERE c.user_id = ? AND c.entry_id = ? AND c.number = ?`,
  );
  return ({ entryId, number }: Hit) => row.get(userId, entryId, number);
};

/** Runs the queries of one search. Each reads what is the owner's alone. */
const hitFinder = (search: Database.Database, { owner, filter, limit }: HitOptions) => {
  const { joins, conditions, values } = conditionsOf(filter);
  const ranked = search.prepare<[object], Hit>(
    `SELECT e.entry_id AS entryId, c.number FROM (
        SELECT w.rowid AS id, bm25(chunk_words, ${WEIGHTS}) AS rank
        FROM chunk_words AS w ${joins}
        WHERE w.chunk_words MATCH @match AND ${ofOwner('w.rowid')} ${conditions}
        ORDER BY rank LIMIT @limit
      ) AS best JOIN chunks AS c ON c.id = best.id JOIN entries AS e ON e.id = c.entry
      ORDER BY best.rank, c.id`,
  );
  const run = (match: string): Hit[] =>
    ranked.all({ ...values, match, owner: owner.id, limit: limit + SPARE_HITS });

  return {
    words: ({ words, phrases, excluded }: ParsedQuery): Hit[] => {
      const not = notOf(excluded);
      const any = expressions(words);
      if (phrases.length > 0) {
        // The words count for the rank alone: what has the phrases has enough.
        const rank = any.length > 0 ? [anyOf([...phrases, ...any])] : [];
        return run(`(${[...phrases, ...rank].join(' AND ')})${not}`);
      }
      if (owner.chunks > MOST_RANKED) {
        const [rare, common] = splitByRarity(search, words);
        const hits = common.length > 0 ? run(`(${rarest(rare, common)})${not}`) : [];
        if (hits.length >= limit) return hits;
      }
      return run(`${anyOf(any)}${not}`);
    },
    /** Finds chunks with words that contain those of the query. */
    parts: ({ parts, excluded }: ParsedQuery): { hits: Hit[] } | null => {
      const words = parts.flatMap((part) => wordsWith(search, owner, part));
      if (words.length === 0) return null;
      const any = words.map((word) => `{title words} : "${word}"`);
      return { hits: run(`${anyOf(any)}${notOf(excluded)}`) };
    },
  };
};

/** Ours: hits beyond the limit, in place of those that are gone when they are read. */
const SPARE_HITS = 10;

const anyOf = (terms: string[]): string => `(${terms.join(' OR ')})`;
const notOf = (terms: string[]): string => terms.map((one) => ` NOT ${one}`).join('');
const expressions = (words: QueryWord[]): string[] => words.map(({ expression }) => expression);

/**
 * Builds the expression of chunks that have one of the rarest words. The others count for the rank:
 * as often as the rarest, which stand in both parts.
 */
const rarest = (rare: QueryWord[], common: QueryWord[]): string => {
  const [needed, others] = [expressions(rare), expressions(common)];
  return `${anyOf(needed)} AND ${anyOf([...others, ...others, ...needed])}`;
};

/**
 * Splits words into the rarest ones, which at most `MOST_RANKED` chunks have together, and the
 * others. There is always one at least among the first.
 */
const splitByRarity = (
  search: Database.Database,
  words: QueryWord[],
): [QueryWord[], QueryWord[]] => {
  const count = search.prepare<[string], number>('SELECT doc FROM frequencies WHERE term = ?');
  const counted = words.map((word) => ({
    word,
    chunks: word.stem === null ? 0 : (count.pluck().get(word.stem) ?? 0),
  }));
  counted.sort((a, b) => a.chunks - b.chunks);
  let sum = 0;
  const at = counted.findIndex(({ chunks }) => {
    sum += chunks;
    return sum > MOST_RANKED;
  });
  const cut = at < 0 ? counted.length : Math.max(1, at);
  const all = counted.map(({ word }) => word);
  return [all.slice(0, cut), all.slice(cut)];
};

/** Returns the words of an owner that contain a part and are longer than it. */
const wordsWith = (search: Database.Database, owner: IndexOwner, part: string): string[] =>
  search
    .prepare<[object], string>(
      `SELECT v.word FROM word_parts AS p JOIN vocabulary AS v ON v.id = p.rowid
        WHERE p.word_parts MATCH @part AND ${ofOwner('p.rowid')} LIMIT ${MOST_PARTS}`,
    )
    .pluck()
    .all({ part: `"${part.replaceAll('"', '""')}"`, owner: owner.id })
    .filter((word) => word !== part);

const conditionsOf = ({ sourceType, tags, trust, since, until, entryIds }: KnowledgeFilter) => {
  const conditions = [
    ...(sourceType ? ['m.source_type IN (SELECT value FROM json_each(@sourceType))'] : []),
    ...(trust ? ['m.trust = @trust'] : []),
    ...(since ? ['m.created_at >= @since'] : []),
    ...(until ? ['m.created_at <= @until'] : []),
    ...(entryIds ? ['m.entry_id IN (SELECT value FROM json_each(@entryIds))'] : []),
    ...(tags
      ? [
          '(SELECT count(*) FROM json_each(m.tags) AS t JOIN json_each(@tags) AS a ON a.value = t.value) = @tagCount',
        ]
      : []),
  ];
  const values = {
    ...(sourceType && { sourceType: JSON.stringify(sourceType) }),
    ...(trust && { trust }),
    ...(since && { since }),
    ...(until && { until }),
    ...(entryIds && { entryIds: JSON.stringify(entryIds) }),
    ...(tags && { tags: JSON.stringify(tags), tagCount: tags.length }),
  };
  const joins =
    conditions.length > 0
      ? 'JOIN chunks AS d ON d.id = w.rowid JOIN entries AS m ON m.id = d.entry'
      : '';
  return { joins, conditions: conditions.map((one) => `AND ${one}`).join(' '), values };
};
