import type { Embedders } from './embedders/registry.js';
import type { EmbedStore } from './embedqueries.js';
import type { QueryMeaning } from './procedures/find.js';
import { mayBeEnglish } from './procedures/language.js';

export interface QueryVectorDeps {
  embedders: Embedders;
  vectors: EmbedStore;
}

/** `note` says which chunks the vector search cannot find. */
export type QueryVectorResult = { meaning: QueryMeaning; note: string | null } | { reason: string };

interface WrittenQuery {
  userId: string;
  query: string;
}

/** Uses the embedder whose vectors the searches of the user use. */
export const vectorOfQuery = async (
  { embedders, vectors }: QueryVectorDeps,
  { userId, query }: WrittenQuery,
): Promise<QueryVectorResult> => {
  const inForce = embedders.inForce();
  if (!inForce) return { reason: embedders.whyNone() };
  const id = await embedders.idOf(inForce);
  const current = (await vectors.current(userId)) ?? id;
  const before = current === id ? null : await embedders.withId(current);
  const embedder = before ?? inForce;
  const text = withoutSyntax(query);
  if (embedder.isEnglish && !(await mayBeEnglish(text))) {
    return { reason: `The embedder ${embedder.name} supports only English` };
  }
  const result = await embedders.queryVector(embedder, userId, text);
  if ('reason' in result) return result;
  const { weight, leastLikeness } = embedder;
  const meaning = {
    embedder: before ? current : id,
    vector: result.vector,
    weight,
    leastLikeness,
  };
  if (before) return { meaning, note: null };
  const waiting = await vectors.waitingChunks(userId);
  return { meaning, note: waiting > 0 ? formatPendingNote(waiting) : null };
};

const formatPendingNote = (waiting: number): string =>
  waiting === 1
    ? '1 chunk has no vector yet and can only be found by keywords'
    : `${waiting} chunks have no vectors yet and can only be found by keywords`;

/** Removes exclusions and quotation marks, which are not part of the meaning. */
const withoutSyntax = (query: string): string =>
  query
    .replace(/[“”„‟«»]/g, '"')
    .replace(/(^|\s)-("[^"]*"|[^-\s]\S*)/g, ' ')
    .replaceAll('"', ' ')
    .trim();
