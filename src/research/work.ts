import type { UserCalls } from '../agents/module.js';
import type { Clock } from '../kernel/clock.js';
import type { KnowledgeActions, KnowledgeTexts } from '../knowledge/module.js';
import type { OperationRun } from '../operations/module.js';
import type { Outbox } from '../outbound/module.js';
import type { PageAccess } from '../providers/pages/access.js';
import type { WebSearch } from '../providers/search/search.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { ResearchJobRow } from '../store/tables/research.js';
import type { ResearchJob } from './contract.js';
import type { ResearchStore } from './queries.js';
import type { ListedSource, ResearchSourcesStore } from './sources.js';

export interface ResearchWeb extends Pick<PageAccess, 'getAllowedPage' | 'readPage'> {
  search: WebSearch;
  /** False for addresses of this machine. */
  isReachable(url: string): boolean;
}

export interface ResearchKnowledge {
  search: KnowledgeActions['search'];
  prepare: KnowledgeTexts['prepare'];
  finish: KnowledgeTexts['finish'];
}

export interface ResearchDeps {
  clock: Clock;
  jobs: ResearchStore;
  sources: ResearchSourcesStore;
  userCalls: UserCalls;
  web: ResearchWeb;
  knowledge: ResearchKnowledge;
  outbox: Outbox;
}

export interface ResearchInput {
  jobId: string;
  /** Set if the caller reports the end of the job. */
  isFollowed?: true;
}

/** In order. A deep job searches and reads again after `missing`. */
export type ResearchStep =
  | ('plan' | 'search' | 'read' | 'missing')
  | ('recall' | 'write' | 'verify' | 'index' | 'tell');

export interface ResearchPlace {
  step: ResearchStep;
  isSecond: boolean;
  searched: number;
}

/** Includes the elapsed time, except while the daemon was stopped. */
export type ResearchCheckpoint = ResearchPlace & { spentMs: number };

/** A limitation for the report. `isFailure` marks an error. */
export interface ResearchNote {
  sentence: string;
  isFailure: boolean;
}

export interface ResearchWork {
  run: OperationRun<ResearchInput, ResearchCheckpoint>;
  job: ResearchJobRow;
  kinds: ResearchJob['sourceKinds'];
  limits: ResearchJob['limits'];
  usage: ResearchJob['usage'];
  plan: ResearchJob['plan'];
  notes: ResearchNote[];
  sources: ListedSource[];
  /** Start of this run, by the process clock. */
  sinceMs: number;
  /** Aborted when the time of the job is over. */
  deadline: AbortSignal;
  /** Aborted when the time for searching and reading is over. */
  readingDeadline: AbortSignal;
}

export const openWork = async (
  { sources, clock }: Pick<ResearchDeps, 'sources' | 'clock'>,
  run: ResearchWork['run'],
  job: ResearchJobRow,
): Promise<ResearchWork> => {
  const limits: ResearchWork['limits'] = JSON.parse(job.limits);
  const spent = run.checkpoint?.spentMs ?? 0;
  const deadlineAt = (ms: number) =>
    ms > spent ? clock.deadline(Math.ceil(ms - spent)) : AbortSignal.abort();
  const totalMs = limits.maxSeconds * 1000;
  return {
    run,
    job,
    kinds: JSON.parse(job.source_kinds),
    limits,
    usage: JSON.parse(job.usage),
    plan: JSON.parse(job.plan),
    notes: JSON.parse(job.notes),
    sources: await sources.list(run.userId, job.id),
    sinceMs: performance.now(),
    deadline: deadlineAt(totalMs),
    readingDeadline: deadlineAt(totalMs * READING_SHARE),
  };
};

/** Share of the time for searching and reading. The rest is for writing. */
const READING_SHARE = 2 / 3;

const spentMs = ({ run, sinceMs }: ResearchWork): number =>
  (run.checkpoint?.spentMs ?? 0) + performance.now() - sinceMs;

export const addNote = ({ notes }: ResearchWork, sentence: string, isFailure = false): void => {
  if (!notes.some((note) => note.sentence === sentence)) notes.push({ sentence, isFailure });
};

const STATUS: Record<ResearchStep, ResearchJobRow['status']> = {
  plan: 'planning',
  search: 'searching',
  read: 'reading',
  missing: 'planning',
  recall: 'reading',
  write: 'writing',
  verify: 'writing',
  index: 'writing',
  tell: 'writing',
};

const NOTES: Record<ResearchStep, string> = {
  plan: 'planning',
  search: 'searching the web',
  read: 'reading',
  missing: 'looking for gaps',
  recall: 'searching your knowledge',
  write: 'writing',
  verify: 'verifying quotes',
  index: 'indexing the report',
  tell: 'the report is complete',
};

export const advance = async (
  jobs: ResearchStore,
  work: ResearchWork,
  to: ResearchPlace,
  steps: TransactionStep[] = [],
): Promise<ResearchPlace> => {
  const { run, job, plan, usage, notes } = work;
  const progress = buildProgress(work, to);
  const change = jobs.change(job.id, {
    status: STATUS[to.step],
    plan: JSON.stringify(plan),
    usage: JSON.stringify(usage),
    notes: JSON.stringify(notes),
    progress: JSON.stringify(progress),
  });
  const checkpoint = { ...to, spentMs: Math.round(spentMs(work)) };
  await run.commit([change, ...steps], { checkpoint, progress });
  return to;
};

const buildProgress = ({ sources, plan }: ResearchWork, { step, searched }: ResearchPlace) => {
  const done = sources.filter(({ status }) => status !== 'found').length;
  const total = sources.length > 0 ? sources.length : null;
  const counted = step === 'search' ? `: ${searched + 1} of ${plan.length} queries` : '';
  return { done, total, unit: 'sources', note: `${NOTES[step]}${counted}` };
};
