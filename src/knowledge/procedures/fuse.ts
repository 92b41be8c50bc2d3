import type { Hit } from './titlerepeats.js';

type HitKind = 'word' | 'part' | 'meaning';

interface HitLists {
  words: Hit[];
  parts: Hit[];
  meaning: Hit[];
  /** 0 without a vector search. */
  meaningWeight: number;
}

export interface RankedHit extends Hit {
  score: number;
  matched: HitKind[];
}

export const FUSED_HITS = 50;

/** Maximum score of a partial match, relative to the best semantic match. */
const PART_OF_MEANING = 0.5;

/**
 * Combines keyword and semantic hits. Each hit has a share relative to the best hit of its list.
 * The sum of both shares, the semantic one weighted, is divided by the maximum possible sum. Hits
 * that match only by meaning have a low score, because the nearest hit is not always near. Shares
 * find more than ranks (Bruch, Gai, Ingber: An Analysis of Fusion Functions for Hybrid Retrieval,
 * 2023; measured on CISI).
 */
export const fuseHits = ({ words, parts, meaning, meaningWeight }: HitLists): RankedHit[] => {
  const fused = new Map<string, RankedHit>();
  const add = (hit: Hit, matched: HitKind, score: number): void => {
    const key = `${hit.entryId} ${hit.number}`;
    const known = fused.get(key) ?? { ...hit, score: 0, matched: [] };
    fused.set(key, known);
    // A chunk that contains a word also contains its parts.
    if (matched === 'part' && known.matched.includes('word')) return;
    known.score += score;
    known.matched.push(matched);
  };
  const [best, last = best] = [words[0], words.at(-1)];
  for (const hit of words) add(hit, 'word', shareOfFirst(hit, best));
  // Partial matches rank after all whole words and after the nearest by meaning: `carries` is not
  // about a car.
  const mostOfPart = Math.min(
    last ? shareOfFirst(last, best) : 1,
    meaning.length > 0 ? PART_OF_MEANING * meaningWeight : 1,
  );
  for (const hit of parts) add(hit, 'part', mostOfPart * shareOfFirst(hit, parts[0]));
  const shareOfMeaning = shareBetween(meaning[0], meaning.slice(0, FUSED_HITS).at(-1));
  for (const hit of meaning) add(hit, 'meaning', meaningWeight * shareOfMeaning(hit));
  return [...fused.values()]
    .map((hit) => ({ ...hit, score: hit.score / (1 + meaningWeight) }))
    .sort((a, b) => b.score - a.score);
};

export const scoreSemanticHits = (hits: Hit[]): RankedHit[] =>
  hits.map((hit) => ({ ...hit, score: Math.max(0, hit.fit), matched: ['meaning'] }));

/** Share of the best hit. BM25 has no upper bound. */
const shareOfFirst = ({ fit }: Hit, first: Hit | undefined): number =>
  first && first.fit > 0 ? fit / first.fit : 1;

/** Position between the last and the first hit, because cosines of texts differ little. */
const shareBetween = (first: Hit | undefined, last: Hit | undefined) => {
  const [most, least] = [first?.fit ?? 0, last?.fit ?? 0];
  return ({ fit }: Hit): number => (most > least ? Math.max(0, fit - least) / (most - least) : 1);
};
