import Boom from '@hapi/boom';
import { TaskOverran } from '../kernel/pool.js';
import type { KnowledgeResults, KnowledgeSearch } from './contract.js';
import type { Found, FoundChunk } from './procedures/find.js';
import type { SearchIndex } from './searchindex.js';

const DEFAULT_LIMIT = 10;
const NO_EMBEDDER = 'Nothing here makes vectors of texts';
const REMEDY = 'An admin gives the routing topic `embeddings` a model that makes them';
const PARTIAL = 'The search index is being made anew; entries may be missing until that is done';

/** A search with what was found, each chunk with its whole text. */
interface KnowledgeFinds {
  mode: KnowledgeResults['mode'];
  degraded: string | null;
  chunks: FoundChunk[];
}

/** Searches the knowledge of a user. Throws 400 for a query of exclusions alone. */
export const searchKnowledge = async (
  { index }: { index: Pick<SearchIndex, 'find'> },
  userId: string,
  { query, mode = 'hybrid', filters = {}, limit = DEFAULT_LIMIT }: KnowledgeSearch,
): Promise<KnowledgeFinds> => {
  if (mode === 'semantic') {
    throw Boom.serverUnavailable(`${NO_EMBEDDER}. ${REMEDY}`, { code: 'no_embedder' });
  }
  const { results, isPartial } = await inTime(
    index.find({ userId, query, filter: filters, limit }),
  );
  if (!results) throw nothingToFind();
  const reasons = [
    ...(mode === 'hybrid' ? [`${NO_EMBEDDER}: found by words alone`] : []),
    ...(isPartial ? [PARTIAL] : []),
  ];
  return {
    mode: 'keyword',
    degraded: reasons.length > 0 ? reasons.join('. ') : null,
    chunks: results,
  };
};

const inTime = async (search: Promise<Found>): Promise<Found> => {
  try {
    return await search;
  } catch (error) {
    if (!(error instanceof TaskOverran)) throw error;
    throw Boom.serverUnavailable('The search took too long; search for rarer words');
  }
};

const nothingToFind = (): Boom.Boom =>
  Boom.badRequest('query has nothing to search for', {
    code: 'nothing_to_find',
    details: [
      { path: 'query', message: 'has no word to search for; exclusions alone find nothing' },
    ],
  });

/** Returns a chunk as a result of the API shows it. */
export const viewFound = ({
  text: _text,
  ...shown
}: FoundChunk): KnowledgeResults['results'][number] => shown;
