import type Database from 'better-sqlite3';
import { conditionsOf, type KnowledgeFilter } from './filter.js';
import type { ParsedQuery, QueryWord } from './query.js';
import { ofOwner, ownerTables } from './searchdb.js';

/** A chunk of the index. */
export interface Hit {
  entryId: string;
  number: number;
}

/** An owner of chunks in the index. */
export interface IndexOwner {
  id: number;
  chunks: number;
}

/** The part of the index that is searched in. */
interface HitOptions {
  owner: IndexOwner;
  filter: KnowledgeFilter;
  /** The hits that are wanted. */
  limit: number;
  /** The most hits that are returned. */
  depth: number;
}

/** The weights of the columns title, words and grams; measured over CISI. */
const WEIGHTS = '2.0, 1.0, 1.0';
/**
 * Ours: the chunks that are ranked for a query of many common words. Those that have none of its
 * rarest words are looked at only if there are too few others.
 */
const MOST_RANKED = 2000;
/** The most words of an owner that are searched for as those that contain a part. */
const MOST_PARTS = 32;

/** Runs the queries of one search. Each reads what is the owner's alone. */
export const hitFinder = (
  search: Database.Database,
  { owner, filter, limit, depth }: HitOptions,
) => {
  const { conditions, values } = conditionsOf(filter);
  const joins =
    conditions.length > 0
      ? 'JOIN chunks AS d ON d.id = w.rowid JOIN entries AS m ON m.id = d.entry'
      : '';
  const { words: table } = ownerTables(owner.id);
  const all = [`w.${table} MATCH @match`, ...conditions];
  const ranked = search.prepare<[object], Hit>(
    `SELECT e.entry_id AS entryId, c.number FROM (
        SELECT w.rowid AS id, bm25(${table}, ${WEIGHTS}) AS rank
        FROM ${table} AS w ${joins}
        WHERE ${all.join(' AND ')}
        ORDER BY rank LIMIT @limit
      ) AS best JOIN chunks AS c ON c.id = best.id JOIN entries AS e ON e.id = c.entry
      ORDER BY best.rank, c.id`,
  );
  const run = (match: string): Hit[] => ranked.all({ ...values, match, limit: depth });

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
        const [rare, common] = splitByRarity(search, owner, words);
        const hits = common.length > 0 ? run(`(${rarest(rare, common)})${not}`) : [];
        if (hits.length >= limit) return hits;
      }
      return run(`${anyOf(any)}${not}`);
    },
    /** Finds chunks with words that contain those of the query. */
    parts: ({ parts, excluded }: ParsedQuery): Hit[] => {
      const words = parts.flatMap((part) => wordsWith(search, owner, part));
      if (words.length === 0) return [];
      const any = words.map((word) => `{title words} : "${word}"`);
      return run(`${anyOf(any)}${notOf(excluded)}`);
    },
  };
};

/** Builds the expression of what has one of the terms. */
export const anyOf = (terms: string[]): string => `(${terms.join(' OR ')})`;
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
  owner: IndexOwner,
  words: QueryWord[],
): [QueryWord[], QueryWord[]] => {
  const { counts } = ownerTables(owner.id);
  const count = search.prepare<[string], number>(`SELECT doc FROM ${counts} WHERE term = ?`);
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
