import type { KnowledgeStats } from './contract.js';
import type { KnowledgeStore } from './queries.js';
import type { QueryVectorDeps } from './queryvector.js';

interface StatsDeps {
  entries: KnowledgeStore;
  embedding: QueryVectorDeps;
}

export const knowledgeStats = async (deps: StatsDeps, userId: string): Promise<KnowledgeStats> => {
  const counts = await deps.entries.counts(userId);
  const sum = (key: 'entries' | 'chunks' | 'chars'): number =>
    counts.reduce((total, each) => total + each[key], 0);
  return {
    total: sum('entries'),
    chunks: sum('chunks'),
    chars: sum('chars'),
    bySourceType: Object.fromEntries(counts.map((each) => [each.sourceType, each.entries])),
    ...(await loadEmbeddingStats(deps.embedding, userId, sum('chunks'))),
  };
};

const loadEmbeddingStats = async (
  { embedders, vectors }: QueryVectorDeps,
  userId: string,
  chunks: number,
): Promise<Pick<KnowledgeStats, 'embedding' | 'modes'>> => {
  const embedder = embedders.inForce();
  if (!embedder) {
    return {
      embedding: { model: null, dimensions: null, embedded: 0, pending: 0 },
      modes: { ...WORDS_ALONE, reason: embedders.whyNone() },
    };
  }
  const { name, dimensions, isEnglish } = embedder;
  const id = await embedders.idOf(embedder);
  const [{ embedded, waiting }, current, failure] = await Promise.all([
    vectors.counts(userId, { id, isEnglish }),
    vectors.current(userId),
    embedders.check(userId),
  ]);
  const before = current === undefined || current === id ? null : await embedders.withId(current);
  const others = chunks - embedded - waiting;
  const reasons = [
    ...(failure === null ? [] : [failure]),
    ...(before ? [`Searches use ${before.name} until ${name} has created all vectors`] : []),
    ...(!before && waiting > 0 ? [`${waiting} of ${chunks} chunks have no vectors yet`] : []),
    ...(others > 0
      ? [`${name} supports only English. ${others} chunks can only be found by keywords`]
      : []),
  ];
  const works = failure === null || before !== null;
  return {
    embedding: { model: name, dimensions, embedded, pending: waiting },
    modes: {
      keyword: true,
      semantic: works,
      hybrid: works,
      reason: reasons.length > 0 ? reasons.join('. ') : null,
    },
  };
};

const WORDS_ALONE = { keyword: true, semantic: false, hybrid: false };
