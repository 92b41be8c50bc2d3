import type { Hit } from './wordhits.js';

/** A hit of the words, with the ID of its chunk in the index. */
export interface WordHit extends Hit {
  id: number;
}

interface RepeatOptions {
  /** The most hits that are returned. */
  limit: number;
  /** Returns those of some chunks in whose text a word of the query stands. */
  inTexts(ids: number[]): number[];
  /** Finds the best hits that are of other entries. */
  others(exceptEntries: string[]): WordHit[];
}

/** Ours: the hits of an entry up to which it is not asked if they are there by their title alone. */
const FEW_HITS = 2;
/** Ours: how often others are looked for in the place of repeats. */
const MAX_ROUNDS = 3;

/**
 * Keeps one of the hits that an entry has by its title alone, which stands with each of its chunks: a
 * long text would take all places otherwise. Others come in their place, and the repeats after these.
 */
export const withoutRepeats = (
  found: WordHit[],
  { limit, inTexts, others }: RepeatOptions,
): WordHit[] => {
  const repeats = new Map<number, WordHit>();
  let hits = found;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const fresh = repeatsIn(hits, inTexts);
    if (fresh.length === 0) break;
    for (const hit of fresh) repeats.set(hit.id, hit);
    const entries = new Set([...repeats.values()].map(({ entryId }) => entryId));
    const all = [...hits, ...others([...entries])].filter(({ id }) => !repeats.has(id));
    hits = [...new Map(all.map((hit) => [hit.id, hit])).values()]
      .sort((a, b) => b.fit - a.fit)
      .slice(0, limit);
  }
  const least = hits.at(-1)?.fit ?? 0;
  const last = [...repeats.values()].map((hit) => ({ ...hit, fit: Math.min(hit.fit, least) }));
  return [...hits, ...last].slice(0, limit);
};

/** Returns the hits that an entry has by its title alone, but the first of each entry. */
const repeatsIn = (hits: WordHit[], inTexts: RepeatOptions['inTexts']): WordHit[] => {
  const byEntry = new Map<string, WordHit[]>();
  for (const hit of hits) byEntry.set(hit.entryId, [...(byEntry.get(hit.entryId) ?? []), hit]);
  const crowded = [...byEntry.values()].filter((each) => each.length > FEW_HITS);
  if (crowded.length === 0) return [];
  const inText = new Set(inTexts(crowded.flat().map(({ id }) => id)));
  return crowded.flatMap((each) => each.filter(({ id }) => !inText.has(id)).slice(1));
};
