import type { Hit } from './wordhits.js';

/** The way in which a chunk was found. */
type HitKind = 'word' | 'part' | 'meaning';

/** The hits of one way to search, the best first. */
interface HitList {
  hits: Hit[];
  weight: number;
  matched: HitKind;
  /** The number of ranks that others have before the first of these. */
  after?: number;
}

/** A hit with its score from 0 to 1, and the ways in which it was found. */
export interface RankedHit extends Hit {
  score: number;
  matched: HitKind[];
}

/** Ours: the constant of fused ranks (Cormack, Clarke, Büttcher: Reciprocal Rank Fusion, 2009). */
const RANK_CONSTANT = 60;

/**
 * Fuses lists by the ranks in them: a hit has the sum of weight / (60 + rank), as a share of what the
 * first of all lists would have.
 */
export const fuseRanks = (lists: HitList[]): RankedHit[] => {
  const fused = new Map<string, RankedHit>();
  for (const { hits, weight, matched, after = 0 } of lists) {
    hits.forEach((hit, at) => {
      const key = `${hit.entryId} ${hit.number}`;
      const known = fused.get(key) ?? { ...hit, score: 0, matched: [] };
      fused.set(key, known);
      // What has a word has parts of it as well.
      if (matched === 'part' && known.matched.includes('word')) return;
      known.score += weight / (RANK_CONSTANT + after + at + 1);
      known.matched.push(matched);
    });
  }
  const most = sumOf(lists) / (RANK_CONSTANT + 1);
  return [...fused.values()]
    .map((hit) => ({ ...hit, score: hit.score / most }))
    .sort((a, b) => b.score - a.score);
};

/** Sums the weights of the lists that have hits; parts of words go on where words end. */
const sumOf = (lists: HitList[]): number => {
  const sum = lists
    .filter(({ hits, matched }) => hits.length > 0 && matched !== 'part')
    .reduce((total, { weight }) => total + weight, 0);
  return sum > 0 ? sum : 1;
};
