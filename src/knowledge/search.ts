import Boom from '@hapi/boom';
import { TaskLimitExceeded } from '../kernel/pool.js';
import type { KnowledgeResults, KnowledgeSearch } from './contract.js';
import { VECTOR_SEARCH_UNAVAILABLE } from './embedders/registry.js';
import type { Found, FoundChunk } from './procedures/find.js';
import { queryFault } from './procedures/querypieces.js';
import { type QueryVectorDeps, type QueryVectorResult, vectorOfQuery } from './queryvector.js';
import type { SearchIndex } from './searchindex.js';

export interface SearchDeps {
  index: Pick<SearchIndex, 'find'>;
  embedding: QueryVectorDeps;
}

const DEFAULT_LIMIT = 10;
const REMEDY =
  'Use the mode `keyword` or `hybrid`, or ask an admin to route the topic `embeddings` to another embedding model';
const PARTIAL =
  'The search index is being rebuilt. Entries may be missing until the index is complete';

interface KnowledgeFinds {
  mode: KnowledgeResults['mode'];
  degraded: string | null;
  chunks: FoundChunk[];
}

/** Throws 400 for a query with only exclusions or with too many conditions. */
export const searchKnowledge = async (
  deps: SearchDeps,
  userId: string,
  { query, mode = 'hybrid', filters = {}, limit = DEFAULT_LIMIT }: KnowledgeSearch,
): Promise<KnowledgeFinds> => {
  const fault = queryFault(query);
  if (fault !== null) throw refusedQuery(fault);
  const found = mode === 'keyword' ? null : await vectorOfQuery(deps.embedding, { userId, query });
  const meaning = found && 'meaning' in found ? found.meaning : null;
  if (mode === 'semantic' && !meaning) throw noEmbedder(found);
  const byWords = mode !== 'semantic';
  const { results, isPartial, comparesVectors } = await inTime(
    deps.index.find({ userId, query, filter: filters, limit, meaning, byWords }),
  );
  if (!results) throw nothingToFind();
  if (mode === 'semantic' && !comparesVectors)
    throw noEmbedder({ reason: VECTOR_SEARCH_UNAVAILABLE });
  const isFused = meaning !== null && comparesVectors;
  const reasons = [
    ...(found && 'reason' in found ? [`${found.reason}. Only keyword search was used`] : []),
    ...(meaning && !comparesVectors
      ? [`${VECTOR_SEARCH_UNAVAILABLE}. Only keyword search was used`]
      : []),
    ...(found && 'note' in found && found.note !== null ? [found.note] : []),
    ...(isPartial ? [PARTIAL] : []),
  ];
  return {
    mode: isFused ? mode : 'keyword',
    degraded: reasons.length > 0 ? reasons.join('. ') : null,
    chunks: results,
  };
};

const inTime = async (search: Promise<Found>): Promise<Found> => {
  try {
    return await search;
  } catch (error) {
    if (!(error instanceof TaskLimitExceeded)) throw error;
    throw Boom.serverUnavailable('The search timed out. Use more specific words');
  }
};

const noEmbedder = (found: QueryVectorResult | null): Boom.Boom => {
  const reason = found && 'reason' in found ? found.reason : 'No embedding model is available';
  return Boom.serverUnavailable(`${reason}. ${REMEDY}`, { code: 'no_embedder' });
};

const refusedQuery = (fault: string): Boom.Boom =>
  Boom.badRequest(`query ${fault}`, { details: [{ path: 'query', message: fault }] });

const nothingToFind = (): Boom.Boom =>
  Boom.badRequest('query contains no word to search for. Add a word that does not begin with -', {
    code: 'nothing_to_find',
    details: [{ path: 'query', message: 'must contain at least one word that is not excluded' }],
  });

type TextOrigin = Pick<
  KnowledgeResults['results'][number],
  'title' | 'sourceType' | 'sourceId' | 'uri' | 'trust'
>;

export const textOrigin = ({
  title,
  sourceType,
  sourceId,
  uri,
  trust,
}: TextOrigin): TextOrigin => ({
  title,
  sourceType,
  sourceId,
  uri,
  trust,
});

export const viewSearchResult = ({
  text: _text,
  ...shown
}: FoundChunk): KnowledgeResults['results'][number] => shown;
