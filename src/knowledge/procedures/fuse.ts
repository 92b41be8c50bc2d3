import type { Hit } from './wordhits.js';

/** The way in which a chunk was found. */
type HitKind = 'word' | 'part' | 'meaning';

/** The hits of each way to search, the best first. */
interface HitLists {
  words: Hit[];
  parts: Hit[];
  meaning: Hit[];
  /** The weight of the meaning beside the words; 0 where it was not searched by. */
  meaningWeight: number;
}

/** A hit with its score from 0 to 1, and the ways in which it was found. */
export interface RankedHit extends Hit {
  score: number;
  matched: HitKind[];
}

/** Ours: the hits of each way to search that are fused. */
export const FUSED_HITS = 50;

/** Ours: the most that a part of a word counts, in shares of what is nearest by its meaning. */
const PART_OF_MEANING = 0.5;

/**
 * Fuses hits by how well each fits beside the others of its list: the sum of the shares by words and
 * by meaning, the latter times its weight, is divided by what the first of both lists would have. What
 * the meaning alone finds has a low score: nothing says that the nearest is near. Shares find more than
 * ranks do (Bruch, Gai, Ingber: An Analysis of Fusion Functions for Hybrid Retrieval, 2023; measured
 * over CISI).
 */
export const fuseHits = ({ words, parts, meaning, meaningWeight }: HitLists): RankedHit[] => {
  const fused = new Map<string, RankedHit>();
  const add = (hit: Hit, matched: HitKind, score: number): void => {
    const key = `${hit.entryId} ${hit.number}`;
    const known = fused.get(key) ?? { ...hit, score: 0, matched: [] };
    fused.set(key, known);
    // What has a word has parts of it as well.
    if (matched === 'part' && known.matched.includes('word')) return;
    known.score += score;
    known.matched.push(matched);
  };
  const [best, last = best] = [words[0], words.at(-1)];
  for (const hit of words) add(hit, 'word', shareOfFirst(hit, best));
  // Parts of words come after all whole words, and after what is nearest by its meaning: `carries` says
  // nothing of a car.
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

/** Scores what is searched for by meaning alone: the cosine. */
export const hitsByMeaning = (hits: Hit[]): RankedHit[] =>
  hits.map((hit) => ({ ...hit, score: Math.max(0, hit.fit), matched: ['meaning'] }));

/** Returns the fit as a share of that of the first: BM25 has no upper bound. */
const shareOfFirst = ({ fit }: Hit, first: Hit | undefined): number =>
  first && first.fit > 0 ? fit / first.fit : 1;

/** Returns the place of a fit between the last and the first: texts have most of a cosine in common. */
const shareBetween = (first: Hit | undefined, last: Hit | undefined) => {
  const [most, least] = [first?.fit ?? 0, last?.fit ?? 0];
  return ({ fit }: Hit): number => (most > least ? Math.max(0, fit - least) / (most - least) : 1);
};
