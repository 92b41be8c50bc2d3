import type Database from 'better-sqlite3';
import { buildFilterConditions, type KnowledgeFilter } from './filter.js';
import type { ParsedQuery } from './query.js';
import { ownerRange, ownerTables } from './searchdb.js';
import type { Hit } from './titlerepeats.js';
import { computeSignBits, getVectorTables, vectorTables } from './vectors.js';
import { type IndexOwner, joinWithOr } from './wordhits.js';

export interface NearestRequest {
  owner: IndexOwner;
  filter: KnowledgeFilter;
  embedder: number;
  vector: Uint8Array;
  /** Minimum cosine similarity. */
  leastLikeness: number;
  terms: Pick<ParsedQuery, 'phrases' | 'excluded'>;
  limit: number;
}

/**
 * Up to this number of chunks of an owner, all vectors are compared. With more, their signs select
 * candidates.
 */
const MAX_COMPARED = 25_000;
const MAX_CANDIDATES = 400;

export const nearestChunks = (search: Database.Database, request: NearestRequest): Hit[] => {
  const { owner, filter, embedder, vector, leastLikeness, terms, limit } = request;
  if (!vectorTables(search).some((each) => each.embedder === embedder)) return [];
  const { conditions, values } = buildFilterConditions(filter);
  const restrictions = buildRestrictions(owner, terms);
  const isWhole = conditions.length + restrictions.length === 0;
  const candidates =
    isWhole && owner.chunks > MAX_COMPARED
      ? bySigns(embedder)
      : byConditions(embedder, { conditions, restrictions });
  return search
    .prepare<[object], Hit>(
      `SELECT e.entry_id AS entryId, c.number, 1 - best.distance AS fit FROM (
          SELECT v.id, vec_distance_cosine(vec_int8(v.vector), vec_int8(@vector)) AS distance
          ${candidates} ORDER BY distance LIMIT @limit
        ) AS best JOIN chunks AS c ON c.id = best.id JOIN entries AS e ON e.id = c.entry
        WHERE best.distance <= @farthest ORDER BY best.distance, c.id`,
    )
    .all({
      ...values,
      owner: owner.id,
      vector,
      signs: computeSignBits(vector),
      limit,
      farthest: 1 - leastLikeness,
      phrases: terms.phrases.join(' AND '),
      excluded: joinWithOr(terms.excluded),
    });
};

const bySigns = (embedder: number): string => {
  const { vectors, signs } = getVectorTables(embedder);
  return `FROM (
      SELECT s.id FROM ${signs} AS s WHERE ${ownerRange('s.id')}
      ORDER BY vec_distance_hamming(vec_bit(s.signs), vec_bit(@signs)) LIMIT ${MAX_CANDIDATES}
    ) AS near JOIN ${vectors} AS v ON v.id = near.id`;
};

const byConditions = (
  embedder: number,
  { conditions, restrictions }: { conditions: string[]; restrictions: string[] },
): string => {
  const { vectors } = getVectorTables(embedder);
  // The filtered entries are usually few, so they come first.
  const from =
    conditions.length > 0
      ? `entries AS m CROSS JOIN chunks AS d ON d.entry = m.id CROSS JOIN ${vectors} AS v ON v.id = d.id`
      : `${vectors} AS v`;
  const own = conditions.length > 0 ? ['m.owner = @owner'] : [];
  const all = [...own, ownerRange('v.id'), ...conditions, ...restrictions];
  return `FROM ${from} WHERE ${all.join(' AND ')}`;
};

const buildRestrictions = (
  owner: IndexOwner,
  { phrases, excluded }: NearestRequest['terms'],
): string[] => {
  const { words } = ownerTables(owner.id);
  const rows = (name: string): string =>
    `(SELECT w.rowid FROM ${words} AS w WHERE w.${words} MATCH @${name})`;
  return [
    ...(phrases.length > 0 ? [`v.id IN ${rows('phrases')}`] : []),
    ...(excluded.length > 0 ? [`v.id NOT IN ${rows('excluded')}`] : []),
  ];
};
