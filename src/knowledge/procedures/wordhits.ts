import type Database from 'better-sqlite3';
import { buildFilterConditions, type KnowledgeFilter } from './filter.js';
import type { ParsedQuery, QueryWord } from './query.js';
import { oncePerDatabase, ownerRange, ownerTables } from './searchdb.js';
import { dropTitleRepeats, type Hit, type WordHit } from './titlerepeats.js';

export interface IndexOwner {
  id: number;
  chunks: number;
}

interface HitOptions {
  owner: IndexOwner;
  filter: KnowledgeFilter;
  limit: number;
  depth: number;
}

/** Weights of the columns title, words and grams, measured on CISI. */
const WEIGHTS = '2.0, 1.0, 1.0';
/**
 * Maximum number of chunks that are ranked for common words. Chunks without one of the rarest words
 * are considered only if there are too few others.
 */
const MAX_RANKED = 2000;
/** Maximum number of words that are searched for a part. */
const MAX_PARTS = 32;

export const hitFinder = (
  search: Database.Database,
  { owner, filter, limit, depth }: HitOptions,
) => {
  const run = wordQuery(search, { owner, filter, limit: depth });
  const varied = (hits: WordHit[], match: string, words: string[]): Hit[] =>
    hits.length <= limit
      ? hits
      : dropTitleRepeats(hits, {
          limit: depth,
          inTexts: (ids) => hitsInTexts(search, owner, { ids, words }),
          others: (except) => run(match, except),
        });

  return {
    words: ({ words, phrases, excluded }: ParsedQuery): Hit[] => {
      const not = formatNotTerms(excluded);
      const any = expressions(words);
      if (phrases.length > 0) {
        // The words only affect the rank. Phrases decide about a match.
        const rank = any.length > 0 ? [joinWithOr([...phrases, ...any])] : [];
        return run(`(${[...phrases, ...rank].join(' AND ')})${not}`);
      }
      if (owner.chunks > MAX_RANKED) {
        const [rare, common] = splitByRarity(search, owner, words);
        const match = `(${rarest(rare, common)})${not}`;
        const hits = common.length > 0 ? run(match) : [];
        if (hits.length >= limit) return varied(hits, match, any);
      }
      const match = `${joinWithOr(any)}${not}`;
      return varied(run(match), match, any);
    },
    parts: ({ parts, excluded }: ParsedQuery): Hit[] => {
      const words = parts.flatMap((part) => wordsWith(search, owner, part));
      if (words.length === 0) return [];
      const any = words.map((word) => `{title words} : "${word}"`);
      return run(`${joinWithOr(any)}${formatNotTerms(excluded)}`);
    },
  };
};

const wordQuery = (
  search: Database.Database,
  { owner, filter, limit }: Pick<HitOptions, 'owner' | 'filter' | 'limit'>,
) => {
  const { words: table } = ownerTables(owner.id);
  return (match: string, exceptEntries?: string[]): WordHit[] => {
    const { conditions, values } = buildFilterConditions({ ...filter, exceptEntries });
    const joins =
      conditions.length > 0
        ? 'JOIN chunks AS d ON d.id = w.rowid JOIN entries AS m ON m.id = d.entry'
        : '';
    const all = [`w.${table} MATCH @match`, ...conditions];
    const ranked = search.prepare<[object], WordHit>(
      `SELECT best.id, e.entry_id AS entryId, c.number, -best.rank AS fit FROM (
          SELECT w.rowid AS id, bm25(${table}, ${WEIGHTS}) AS rank
          FROM ${table} AS w ${joins}
          WHERE ${all.join(' AND ')}
          ORDER BY rank LIMIT @limit
        ) AS best JOIN chunks AS c ON c.id = best.id JOIN entries AS e ON e.id = c.entry
        ORDER BY best.rank, c.id`,
    );
    return ranked.all({ ...values, match, limit });
  };
};

/** Returns chunks with one of the words in the text, not only in the title. */
const hitsInTexts = (
  search: Database.Database,
  owner: IndexOwner,
  { ids, words }: { ids: number[]; words: string[] },
): number[] => {
  const { words: table } = ownerTables(owner.id);
  return search
    .prepare<[object], number>(
      `SELECT rowid FROM ${table}
        WHERE ${table} MATCH @match AND rowid IN (SELECT value FROM json_each(@ids))`,
    )
    .pluck()
    .all({ match: `{words grams} : ${joinWithOr(words)}`, ids: JSON.stringify(ids) });
};

export const joinWithOr = (terms: string[]): string => `(${terms.join(' OR ')})`;
const formatNotTerms = (terms: string[]): string => terms.map((one) => ` NOT ${one}`).join('');
const expressions = (words: QueryWord[]): string[] => words.map(({ expression }) => expression);

/**
 * Matches chunks with one of the rarest words. The other words only affect the rank: rare words
 * occur in both parts of the expression.
 */
const rarest = (rare: QueryWord[], common: QueryWord[]): string => {
  const [needed, others] = [expressions(rare), expressions(common)];
  return `${joinWithOr(needed)} AND ${joinWithOr([...others, ...others, ...needed])}`;
};

/**
 * Splits words into the rarest ones, which match at most `MAX_RANKED` chunks together, and the
 * others. The first group has at least one word.
 */
const splitByRarity = (
  search: Database.Database,
  owner: IndexOwner,
  words: QueryWord[],
): [QueryWord[], QueryWord[]] => {
  const counted = words.map((word) => ({
    word,
    chunks: word.stem === null ? 0 : chunksWith(search, owner, word.stem),
  }));
  counted.sort((a, b) => a.chunks - b.chunks);
  let sum = 0;
  const at = counted.findIndex(({ chunks }) => {
    sum += chunks;
    return sum > MAX_RANKED;
  });
  const cut = at < 0 ? counted.length : Math.max(1, at);
  const all = counted.map(({ word }) => word);
  return [all.slice(0, cut), all.slice(cut)];
};

const MAX_COUNTS = 10_000;

interface KnownCounts {
  /** Number of chunks of the owner when they were counted. */
  chunks: number;
  of: Map<string, number>;
}

const countsByOwner = oncePerDatabase(() => new Map<number, KnownCounts>());

/** Counting is cached, because it is slow for frequent words. */
const chunksWith = (search: Database.Database, owner: IndexOwner, stem: string): number => {
  const all = countsByOwner(search);
  const cached = all.get(owner.id);
  const isValid = cached?.chunks === owner.chunks && cached.of.size < MAX_COUNTS;
  const known = isValid ? cached : { chunks: owner.chunks, of: new Map<string, number>() };
  all.set(owner.id, known);
  const { counts } = ownerTables(owner.id);
  const count =
    known.of.get(stem) ??
    search
      .prepare<[string], number>(`SELECT doc FROM ${counts} WHERE term = ?`)
      .pluck()
      .get(stem) ??
    0;
  known.of.set(stem, count);
  return count;
};

const wordsWith = (search: Database.Database, owner: IndexOwner, part: string): string[] =>
  search
    .prepare<[object], string>(
      `SELECT v.word FROM word_parts AS p JOIN vocabulary AS v ON v.id = p.rowid
        WHERE p.word_parts MATCH @part AND ${ownerRange('p.rowid')} LIMIT ${MAX_PARTS}`,
    )
    .pluck()
    .all({ part: `"${part.replaceAll('"', '""')}"`, owner: owner.id })
    .filter((word) => word !== part);
