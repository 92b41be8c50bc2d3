import { iso } from '../kernel/clock.js';
import { truncateText } from '../kernel/excerpt.js';
import type { OperationEnd, OperationKind } from '../operations/module.js';
import { EMPTY_POSTING } from '../outbound/module.js';
import { askForJob, promptRoom, sourceMark } from './ask.js';
import type { ResearchReport } from './contract.js';
import { DEPTHS } from './depths.js';
import { missingQueries, planQueries } from './plan.js';
import { recallKnowledge } from './recall.js';
import { readFound, searchNext } from './web.js';
import {
  addNote,
  advance,
  openWork,
  type ResearchCheckpoint,
  type ResearchDeps,
  type ResearchInput,
  type ResearchPlace,
  type ResearchStep,
  type ResearchWork,
} from './work.js';
import { verifyDraft, writeDraft } from './write.js';

/** Resolves to the next step, or to null after the last one. */
type DoStep = (
  deps: ResearchDeps,
  work: ResearchWork,
  at: ResearchPlace,
) => Promise<ResearchPlace | null>;

const BEGINNING: ResearchPlace = { step: 'plan', isSecond: false, searched: 0 };

export const researchOperation = (
  deps: ResearchDeps,
): OperationKind<ResearchInput, ResearchCheckpoint> => ({
  kind: 'research.start',
  isResumable: true,
  isAdmins: false,
  run: async (run) => {
    const { userId, input, checkpoint } = run;
    const job = await deps.jobs.get(userId, input.jobId);
    if (!job) return { status: 'failed', error: 'The job was deleted' };
    const work = await openWork(deps, run, job);
    let at: ResearchPlace | null = checkpoint ?? (await advance(deps.jobs, work, BEGINNING));
    while (at) at = await STEPS[at.step](deps, work, pickPlace(at));
    return toOperationEnd(work);
  },
  ended: ({ resource_id: id, user_id: userId }, status) => {
    const isFailed = status !== 'completed' && status !== 'cancelled';
    const error = isFailed ? 'The research could not be completed' : null;
    const at = iso(deps.clock.now());
    const end = deps.jobs.end(id, { status: isFailed ? 'failed' : status, error, at });
    return status === 'completed' ? [end] : [end, deps.jobs.dropEntry(userId, id)];
  },
});

const pickPlace = ({ step, isSecond, searched }: ResearchPlace): ResearchPlace => ({
  step,
  isSecond,
  searched,
});

const NO_PROVIDER =
  'The web was not searched because no search provider is configured (ADJUTANT_SEARCH_PROVIDER).';

/** Queries are written only from the question. */
const plan: DoStep = async ({ jobs, web, userCalls }, work, at) => {
  const { job, kinds } = work;
  const isUnset = web.search.provider === null;
  if (kinds.includes('web') && isUnset) addNote(work, NO_PROVIDER);
  if (!kinds.includes('web') || isUnset) return advance(jobs, work, { ...at, step: 'read' });
  const ask = (question: Parameters<typeof askForJob>[2]) => askForJob(userCalls, work, question);
  const count = DEPTHS[job.depth].queries;
  work.plan.push(...(await planQueries({ ask, question: job.question, count })));
  return advance(jobs, work, { ...at, step: 'search' });
};

const PROMPT_TOKENS = 1024;

/** Only text of web pages is passed to the model. */
const missing: DoStep = async ({ jobs, sources, userCalls }, work, { searched }) => {
  const { run, job } = work;
  const pages = await sources.readPages(run.userId, job.id);
  const ask = (question: Parameters<typeof askForJob>[2]) => askForJob(userCalls, work, question);
  const { question, depth } = job;
  const count = DEPTHS[depth].missing;
  const room = promptRoom(userCalls, work, PROMPT_TOKENS);
  const shared = { ask, question, count, earlier: work.plan, pages, room, mark: sourceMark(work) };
  const queries = pages.length > 0 ? await missingQueries(shared) : [];
  work.plan.push(...queries);
  const step = queries.length > 0 ? 'search' : 'recall';
  return advance(jobs, work, { step, isSecond: true, searched });
};

const MAX_TITLE_LENGTH = 300;

const index: DoStep = async ({ jobs, sources, knowledge }, work, at) => {
  const { run, job } = work;
  const next: ResearchPlace = { ...at, step: 'tell' };
  const report = await loadReport(sources, work);
  if (!report || !work.sources.some(({ used }) => used === 1)) return advance(jobs, work, next);
  const { id: knowledge_id, transactions } = await knowledge.prepare({
    userId: run.userId,
    sourceType: 'research',
    sourceId: job.id,
    uri: null,
    title: truncateText(job.question, MAX_TITLE_LENGTH),
    tags: [],
    trust: 'outside',
    text: report.markdown,
  });
  // Committed with the checkpoint, so that a cancelled or deleted job leaves no entry.
  for await (const steps of transactions) await advance(jobs, work, at, steps);
  await knowledge.finish(run.userId, knowledge_id);
  return advance(jobs, work, next, [jobs.change(job.id, { knowledge_id })]);
};

const loadReport = async (
  sources: ResearchDeps['sources'],
  { run, job }: ResearchWork,
): Promise<ResearchReport | null> => {
  const row = await sources.report(run.userId, job.id);
  return row?.report ? JSON.parse(row.report) : null;
};

/**
 * Notifies the owner in the transaction of the last checkpoint, unless a caller follows the job.
 */
const notifyOwner: DoStep = async ({ jobs, sources, outbox }, work, at) => {
  const { run, job } = work;
  const report = await loadReport(sources, work);
  const failure = findReadFailure(work);
  const title = truncateText(job.question, 150);
  const notice = {
    kind: failure === null ? 'research_completed' : 'research_failed',
    title: failure === null ? `Research completed: ${title}` : `Research failed: ${title}`,
    body: failure ?? formatHeadline(report),
    link: `/api/research/jobs/${job.id}`,
    about: title,
    effectId: `research:${job.id}`,
  } as const;
  const { statements, published } = run.input.isFollowed
    ? EMPTY_POSTING
    : outbox.toOwner(run.userId, notice);
  const failed = failure === null ? [] : [jobs.change(job.id, { error: failure })];
  await advance(jobs, work, at, [...failed, ...statements]);
  published();
  return null;
};

const HEADLINE_CHARS = 1000;

const formatHeadline = (report: ResearchReport | null): string => {
  const [first] = report?.sections ?? [];
  if (!report || !first) return 'No answer to this question was found.';
  const count = report.unverified;
  const doubt = count === 0 ? '' : `\n\nUnverified sentences: ${count}.`;
  return `${truncateText(first.markdown, HEADLINE_CHARS)}${doubt}`;
};

/** Returns null if a source was read or nothing was found. */
const findReadFailure = ({ sources, notes }: ResearchWork): string | null => {
  if (sources.some(({ status }) => status === 'read')) return null;
  const failures = notes.filter(({ isFailure }) => isFailure).map(({ sentence }) => sentence);
  const [first] = [...sources.flatMap(({ error }) => error ?? []), ...failures];
  return first === undefined ? null : `No source could be read: ${first}`;
};

const toOperationEnd = (work: ResearchWork): OperationEnd => {
  const failure = findReadFailure(work);
  if (failure !== null) return { status: 'failed', error: failure };
  return { status: 'completed', result: { jobId: work.job.id } };
};

const STEPS: Record<ResearchStep, DoStep> = {
  plan,
  search: searchNext,
  read: readFound,
  missing,
  recall: recallKnowledge,
  write: writeDraft,
  verify: verifyDraft,
  index,
  tell: notifyOwner,
};
