import { createHash } from 'node:crypto';
import { type Clock, iso } from '../kernel/clock.js';
import { truncateText } from '../kernel/excerpt.js';
import type { KnowledgeTexts } from '../knowledge/module.js';
import type { OperationEnd, OperationKind, OperationRun } from '../operations/module.js';
import type { PageAccess } from '../providers/pages/access.js';
import { type PageText, PageUnreadable } from '../providers/pages/page.js';
import { PageFailed, type ReceivedPage } from '../providers/pages/request.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { ReaderTaskRow } from '../store/tables/reader.js';
import type { ReaderStore } from './queries.js';

export interface ReadInput {
  taskId: string;
}

type ReadCheckpoint = 'begun' | 'read' | 'summarized' | 'indexed' | { failed: string };

type ReadRun = OperationRun<ReadInput, ReadCheckpoint>;

export type Summarize = (
  task: ReaderTaskRow,
  content: string,
  signal: AbortSignal,
) => Promise<Pick<ReaderTaskRow, 'summary' | 'summary_model'>>;

interface ReadDeps {
  clock: Clock;
  tasks: ReaderStore;
  pages: PageAccess;
  summarize: Summarize;
  texts: Pick<KnowledgeTexts, 'index'>;
}

const MAX_CONTENT_LENGTH = 1_000_000;

export const readOperation = (deps: ReadDeps): OperationKind<ReadInput, ReadCheckpoint> => ({
  kind: 'reader.read',
  isResumable: true,
  isAdmins: false,
  run: async (run) => {
    const { userId, input, checkpoint } = run;
    const task = await deps.tasks.get(userId, input.taskId);
    if (!task) return { status: 'failed', error: 'The task was deleted' };
    if (typeof checkpoint === 'object' && checkpoint) return failed(checkpoint.failed);
    if (checkpoint === null) await advance(run, 'begun', [deps.tasks.change(task.id, RUNNING)]);
    if (checkpoint === null || checkpoint === 'begun') {
      const error = await readTask(deps, run, task);
      if (error !== null) return failed(error);
    }
    const isSummarized = checkpoint === 'summarized' || checkpoint === 'indexed';
    if (task.summarize === 1 && !isSummarized) await summarizeTask(deps, run, task);
    if (task.tags !== null && checkpoint !== 'indexed') await indexTask(deps, run, task);
    const { note = null } = (await deps.tasks.get(userId, task.id)) ?? {};
    return { status: 'completed', result: { taskId: task.id, ...(note !== null && { note }) } };
  },
  ended: ({ resource_id: id }, status) => {
    const at = iso(deps.clock.now());
    const isFailed = status !== 'completed' && status !== 'cancelled';
    const error = isFailed ? 'The page could not be read' : null;
    return [deps.tasks.end(id, { status: isFailed ? 'failed' : status, error, at })];
  },
});

const RUNNING = { status: 'running' } as const;

const failed = (error: string): OperationEnd => ({ status: 'failed', error });

const NOTES = {
  begun: 'fetching the page',
  read: 'read',
  summarized: 'summarized',
  indexed: 'indexed',
};

const advance = (run: ReadRun, to: ReadCheckpoint, steps: TransactionStep[]): Promise<void> => {
  const note = typeof to === 'string' ? NOTES[to] : 'failed';
  const done = to === 'begun' ? 0 : 1;
  return run.commit(steps, {
    checkpoint: to,
    progress: { done, total: 1, unit: 'pages', note },
  });
};

const readTask = async (
  deps: ReadDeps,
  run: ReadRun,
  task: ReaderTaskRow,
): Promise<string | null> => {
  const { pages, clock, tasks } = deps;
  let page: ReceivedPage | null = null;
  try {
    // Pages that are indexed are subject to robots.txt.
    const get = task.tags === null ? pages.getPage : pages.getAllowedPage;
    page = await get(task.url, { userId: run.userId, signal: run.signal });
    const wish = {
      format: task.format,
      isWhole: false,
      hasAddresses: false,
      most: MAX_READ_LENGTH,
    };
    const text = await pages.readPage(page, wish, run);
    if (text.kind === 'feed') await pages.refuseUnlessAllowed(page.url, run.signal);
    await keep(deps, run, task, { page, text });
    return null;
  } catch (error) {
    run.signal.throwIfAborted();
    const failure = toFailureColumns(error, page);
    if (!failure) throw error;
    const change = { ...failure, fetched_at: iso(clock.now()) };
    await advance(run, { failed: failure.error }, [tasks.change(task.id, change)]);
    return failure.error;
  }
};

/** The hash covers the complete text, which is cut afterwards. */
const MAX_READ_LENGTH = 20_000_000;

const toFailureColumns = (error: unknown, page: ReceivedPage | null) => {
  if (error instanceof PageFailed) {
    const { message, status, url } = error;
    return { error: message, http_status: status, final_url: url };
  }
  if (!(error instanceof PageUnreadable) || !page) return null;
  const { status, url } = page;
  return {
    error: error.describe(url),
    http_status: status,
    final_url: url,
    kind: error.kind,
  };
};

const keep = async (
  { tasks, clock }: ReadDeps,
  run: ReadRun,
  task: ReaderTaskRow,
  { page, text }: { page: ReceivedPage; text: PageText },
): Promise<void> => {
  const whole = text.content;
  const sha256 = whole === null ? null : sha256Of(whole);
  const before = sha256 === null ? undefined : await tasks.previous(task);
  const content = whole === null ? null : truncateText(whole, MAX_CONTENT_LENGTH);
  const change = {
    final_url: page.url,
    http_status: page.status,
    kind: text.kind,
    title: text.title === null ? null : truncateText(text.title, 500),
    byline: text.byline,
    site_name: text.siteName,
    published_at: text.publishedAt,
    language: text.language,
    excerpt: text.excerpt,
    canonical_url: text.canonicalUrl,
    content_format: text.contentFormat,
    truncated: whole !== null && (content?.length ?? 0) < whole.length ? 1 : 0,
    words: text.words,
    note: buildPageNote(task, text),
    sha256,
    changed: before ? Number(before.sha256 !== sha256) : null,
    previous_task_id: before?.id ?? null,
    fetched_at: iso(clock.now()),
  };
  const links = JSON.stringify(text.links);
  const insertContent = tasks.insertContent({ task_id: task.id, content, links });
  await advance(run, 'read', [tasks.change(task.id, change), insertContent]);
};

const buildPageNote = (task: ReaderTaskRow, { content, note }: PageText): string | null => {
  const isUnindexed = task.tags !== null && !content?.trim();
  const notes = [
    note ?? [],
    isUnindexed ? 'The page was not indexed because it has no text' : [],
  ].flat();
  return notes.length === 0 ? null : notes.join('. ');
};

const summarizeTask = async (
  { tasks, summarize }: ReadDeps,
  run: ReadRun,
  task: ReaderTaskRow,
): Promise<void> => {
  const found = await tasks.content(run.userId, task.id);
  if (!found?.content) return;
  const written = await summarize(task, found.content, run.signal);
  await advance(run, 'summarized', [tasks.change(task.id, written)]);
};

const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

const MAX_SOURCE_LENGTH = 300;

const indexTask = async (
  { tasks, texts }: ReadDeps,
  run: ReadRun,
  { id, url }: ReaderTaskRow,
): Promise<void> => {
  const { userId } = run;
  const task = await tasks.get(userId, id);
  const found = await tasks.content(userId, id);
  if (!task || !found?.content?.trim()) return;
  const { id: knowledge_id } = await texts.index({
    userId,
    sourceType: 'page',
    sourceId: url.length <= MAX_SOURCE_LENGTH ? url : sha256Of(url),
    uri: task.final_url ?? url,
    title: truncateText(task.title ?? url, MAX_SOURCE_LENGTH),
    tags: JSON.parse(task.tags ?? '[]'),
    trust: 'outside',
    text: found.content,
  });
  await advance(run, 'indexed', [tasks.change(id, { knowledge_id })]);
};
