export interface WordHit extends Hit {
  id: number;
}

interface RepeatOptions {
  limit: number;
  inTexts(ids: number[]): number[];
  others(exceptEntries: string[]): WordHit[];
}

/** Up to this number of hits per entry, repeats are allowed. */
const FEW_HITS = 2;
/** Maximum number of searches for replacements. */
const MAX_ROUNDS = 3;

/**
 * Each chunk contains the title of its entry. Of hits that match only by title, one per entry is
 * kept, so that a long text does not fill the results. Others follow after the replacements.
 */
export const dropTitleRepeats = (
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

const repeatsIn = (hits: WordHit[], inTexts: RepeatOptions['inTexts']): WordHit[] => {
  const byEntry = new Map<string, WordHit[]>();
  for (const hit of hits) byEntry.set(hit.entryId, [...(byEntry.get(hit.entryId) ?? []), hit]);
  const crowded = [...byEntry.values()].filter((each) => each.length > FEW_HITS);
  if (crowded.length === 0) return [];
  const inText = new Set(inTexts(crowded.flat().map(({ id }) => id)));
  return crowded.flatMap((each) => each.filter(({ id }) => !inText.has(id)).slice(1));
};

export interface Hit {
  entryId: string;
  number: number;
  /** BM25 score or cosine. Higher is better. */
  fit: number;
}
