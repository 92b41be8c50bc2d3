import Boom from '@hapi/boom';
import { type Clock, iso } from '../kernel/clock.js';
import { getEgressRefusal } from '../kernel/egress.js';
import type { Http } from '../kernel/http.js';
import { mint } from '../kernel/ids.js';
import { orNotFound, throwIfFaults } from '../kernel/route.js';
import type { KnowledgeTexts } from '../knowledge/module.js';
import type { OperationBeginner } from '../operations/module.js';
import { NO_SEARCH } from '../providers/search/search.js';
import { type ResearchJobRow, researchJobTable } from '../store/tables/research.js';
import { viewer } from '../store/view.js';
import { ResearchJob, type ResearchJobDetail, type ResearchRequest } from './contract.js';
import { DEPTHS } from './depths.js';
import type { ResearchStore } from './queries.js';
import type { ListedSource, ResearchSourcesStore } from './sources.js';
import { sourceRow, withoutFragment } from './web.js';
import type { ResearchInput } from './work.js';

export interface ResearchServiceDeps {
  clock: Clock;
  http: Pick<Http, 'check'>;
  jobs: ResearchStore;
  sources: ResearchSourcesStore;
  texts: Pick<KnowledgeTexts, 'removal' | 'changed'>;
  starts: OperationBeginner<ResearchInput>;
  hasModel(userId: string, name: string): boolean;
  isSearchable: boolean;
}

export const viewJob = viewer(researchJobTable, ResearchJob, {});

interface ResearchCause {
  /** ID of the tool call, which starts only one job. */
  effectId: string;
  isFollowed?: true;
}

export const startResearch = async (
  deps: ResearchServiceDeps,
  userId: string,
  body: ResearchRequest,
  cause?: ResearchCause,
): Promise<string> => {
  const effectId = cause?.effectId ?? null;
  const existing = effectId === null ? undefined : await deps.jobs.ofEffect(userId, effectId);
  if (existing) return existing.id;
  refuseRequest(deps, userId, body);
  const { jobs, sources, starts, clock } = deps;
  const now = clock.now();
  const id = mint('research', now);
  const row = {
    ...buildJobRow(body),
    id,
    user_id: userId,
    effect_id: effectId,
    created_at: iso(now),
  };
  const urls: string[] = JSON.parse(row.urls);
  const owned = { run: { userId }, job: { id } };
  await starts.begin(
    {
      userId,
      resource: { kind: 'research', id },
      title: `Research: ${body.question.replace(/\s+/g, ' ').trim()}`.slice(0, 200),
      input: { jobId: id, ...(cause?.isFollowed && { isFollowed: true }) },
      progress: { total: null, unit: 'sources' },
    },
    ({ id: operation_id }) => [
      jobs.insert({ ...row, operation_id }),
      ...urls.map((url, at) =>
        sources.insert(sourceRow(owned, { n: at + 1, page: { title: '', url } })),
      ),
    ],
  );
  return id;
};

const refuseRequest = (deps: ResearchServiceDeps, userId: string, body: ResearchRequest): void => {
  const { urls = [], model, sources = [], limits = {}, depth = 'standard' } = body;
  const most = limits.maxSources ?? DEPTHS[depth].maxSources;
  const tooMany = `has ${urls.length} addresses, but maxSources is ${most}`;
  throwIfFaults([
    ...urls.flatMap((url, at) => addressFaults(deps.http, url, at)),
    ...(urls.length > most ? [{ path: 'urls', message: tooMany }] : []),
    ...(model === undefined || deps.hasModel(userId, model)
      ? []
      : [{ path: 'model', message: 'must be an enabled model' }]),
  ]);
  const isWebAlone = sources.length === 1 && sources[0] === 'web';
  if (isWebAlone && urls.length === 0 && !deps.isSearchable) {
    throw Boom.serverUnavailable(NO_SEARCH, { code: 'no_search_provider' });
  }
};

const MAX_URL_LENGTH = 2048;

const addressFaults = (http: Pick<Http, 'check'>, url: string, at: number) => {
  const length = withoutFragment(url)?.length ?? 0;
  const isLong = length > MAX_URL_LENGTH;
  const long = `the encoded address has ${length} characters. The maximum is ${MAX_URL_LENGTH}`;
  const reason = isLong ? long : getEgressRefusal(() => http.check(url));
  return reason === null ? [] : [{ path: `urls.${at}`, message: `cannot be read: ${reason}` }];
};

const NOTHING_USED = {
  modelCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
  searches: 0,
  pages: 0,
};

const buildJobRow = ({
  question,
  depth = 'standard',
  sources,
  urls = [],
  model,
  limits,
}: ResearchRequest) => ({
  question,
  depth,
  source_kinds: JSON.stringify(sources ?? ['web', 'knowledge']),
  urls: JSON.stringify([...new Set(urls.flatMap((url) => withoutFragment(url) ?? []))]),
  model: model ?? null,
  limits: JSON.stringify({
    maxSeconds: limits?.maxSeconds ?? DEPTHS[depth].maxSeconds,
    maxCostUsd: limits?.maxCostUsd ?? null,
    maxSources: limits?.maxSources ?? DEPTHS[depth].maxSources,
  }),
  status: 'queued' as const,
  plan: '[]',
  usage: JSON.stringify(NOTHING_USED),
  notes: '[]',
  progress: null,
  knowledge_id: null,
  error: null,
  finished_at: null,
});

export const findJob = async (
  { jobs }: { jobs: ResearchStore },
  userId: string,
  id: string,
): Promise<ResearchJobRow> =>
  orNotFound(await jobs.get(userId, id), 'No research job with that id');

export const jobDetail = async (
  { jobs, sources }: { jobs: ResearchStore; sources: ResearchSourcesStore },
  userId: string,
  id: string,
): Promise<ResearchJobDetail> => {
  const job = viewJob(await findJob({ jobs }, userId, id));
  const rows = await sources.list(userId, id);
  const stored = await sources.report(userId, id);
  const report = stored?.report ? JSON.parse(stored.report) : null;
  return { ...job, sources: rows.map(viewSource), report };
};

const viewSource = (source: ListedSource): ResearchJobDetail['sources'][number] => ({
  n: source.n,
  url: source.url,
  entryId: source.entry_id,
  title: source.title,
  status: source.status,
  used: source.used === 1,
  sha256: source.sha256,
  error: source.error,
  retrievedAt: source.retrieved_at,
});

export const isOpenJob = ({ status }: Pick<ResearchJobRow, 'status'>): boolean =>
  status !== 'completed' && status !== 'failed' && status !== 'cancelled';

export const deleteJob = async (
  { jobs, starts, texts }: ResearchServiceDeps,
  userId: string,
  id: string,
): Promise<void> => {
  const job = await findJob({ jobs }, userId, id);
  if (isOpenJob(job)) {
    try {
      await starts.cancel(userId, job.operation_id);
    } catch (error) {
      // The operation has just ended or was pruned.
      if (!Boom.isBoom(error)) throw error;
    }
  }
  const removal = texts.removal(userId, 'research', id);
  if (await jobs.delete(userId, id, [removal])) texts.changed();
  else await findJob({ jobs }, userId, id);
};
