import { createHash } from 'node:crypto';
import { iso } from '../kernel/clock.js';
import { truncateText } from '../kernel/excerpt.js';
import { PageUnreadable } from '../providers/pages/page.js';
import { PageFailed } from '../providers/pages/request.js';
import type { FoundPage } from '../providers/search/protocols.js';
import { SearchFailed } from '../providers/search/search.js';
import type { ResearchSourceRow } from '../store/tables/research.js';
import { DEPTHS } from './depths.js';
import type { ListedSource } from './sources.js';
import {
  addNote,
  advance,
  type ResearchDeps,
  type ResearchPlace,
  type ResearchWork,
} from './work.js';

const NO_TIME_TO_SEARCH = 'The time limit was reached before all searches were done.';
const NO_TIME_TO_READ = 'The time limit was reached before the page was read';

export const searchNext = async (
  { jobs, sources, web }: ResearchDeps,
  work: ResearchWork,
  at: ResearchPlace,
): Promise<ResearchPlace> => {
  const query = work.plan[at.searched]?.query;
  const reading: ResearchPlace = { ...at, step: 'read', searched: work.plan.length };
  if (query === undefined) return advance(jobs, work, reading);
  if (work.readingDeadline.aborted) {
    addNote(work, NO_TIME_TO_SEARCH);
    return advance(jobs, work, reading);
  }
  const found = await pagesFor(web, work, query);
  const rows = newPages(web, work, found).map((page, place) =>
    sourceRow(work, { n: work.sources.length + place + 1, page }),
  );
  work.sources.push(...rows);
  const searched = at.searched + 1;
  const step = searched < work.plan.length ? 'search' : 'read';
  return advance(jobs, work, { ...at, step, searched }, rows.map(sources.insert));
};

const pagesFor = async (
  { search }: ResearchDeps['web'],
  work: ResearchWork,
  query: string,
): Promise<FoundPage[]> => {
  const { run, job, usage, readingDeadline } = work;
  // More than are read, because some are already known.
  const count = DEPTHS[job.depth].pages * 3;
  usage.searches++;
  try {
    return await search.search(query, count, AbortSignal.any([run.signal, readingDeadline]));
  } catch (error) {
    run.signal.throwIfAborted();
    if (readingDeadline.aborted) {
      addNote(work, NO_TIME_TO_SEARCH);
      return [];
    }
    if (!(error instanceof SearchFailed)) throw error;
    addNote(work, `A search failed: ${error.message}.`, true);
    return [];
  }
};

const MAX_URL_LENGTH = 8192;
const MAX_TITLE_LENGTH = 500;

const newPages = (
  { isReachable }: ResearchDeps['web'],
  { job, kinds, limits, sources }: ResearchWork,
  found: FoundPage[],
) => {
  const { pages, entries } = DEPTHS[job.depth];
  const forEntries = kinds.includes('knowledge') ? Math.min(entries, limits.maxSources / 4) : 0;
  const room = limits.maxSources - Math.floor(forEntries) - sources.length;
  const known = new Set(sources.map(({ url }) => url));
  const fresh = found.flatMap(({ title, url: address }) => {
    const url = withoutFragment(address);
    const isUsable = url !== null && url.length <= MAX_URL_LENGTH && isReachable(url);
    if (!isUsable || known.has(url)) return [];
    known.add(url);
    return [{ title: truncateText(title, MAX_TITLE_LENGTH), url }];
  });
  return fresh.slice(0, Math.max(0, Math.min(pages, room)));
};

/** Returns null for an invalid address. */
export const withoutFragment = (text: string): string | null => {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  url.hash = '';
  return url.href;
};

export const sourceRow = (
  { run, job }: { run: { userId: string }; job: { id: string } },
  { n, page }: { n: number; page: { title: string; url: string } },
): ResearchSourceRow => ({
  job_id: job.id,
  n,
  user_id: run.userId,
  url: page.url,
  entry_id: null,
  title: page.title,
  status: 'found',
  used: 0,
  text: null,
  sha256: null,
  error: null,
  retrieved_at: null,
});

/** Pages that are read at the same time, and the maximum length of a stored page. */
const AT_ONCE = 4;
const MAX_CHARS = 100_000;
const WISH = { format: 'text', isWhole: false, hasAddresses: false, most: MAX_CHARS } as const;

export const readFound = async (
  deps: ResearchDeps,
  work: ResearchWork,
  at: ResearchPlace,
): Promise<ResearchPlace> => {
  const waiting = inTurn(work.sources.filter(({ status }) => status === 'found'));
  const reader = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      await readOne(deps, work, at, next);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, reader));
  const isMissing = !at.isSecond && DEPTHS[work.job.depth].missing > 0 && work.plan.length > 0;
  return advance(deps.jobs, work, { ...at, step: isMissing ? 'missing' : 'recall' });
};

/** Interleaves hosts, because each host receives one request per second. */
const inTurn = (sources: ListedSource[]): ListedSource[] => {
  const seen = new Map<string, number>();
  const turns = sources.map((source) => {
    const { host } = new URL(source.url ?? '');
    const turn = seen.get(host) ?? 0;
    seen.set(host, turn + 1);
    return { source, turn };
  });
  return turns.sort((a, b) => a.turn - b.turn).map(({ source }) => source);
};

/** Stores the text or the error of a page with its checkpoint. */
const readOne = async (
  deps: ResearchDeps,
  work: ResearchWork,
  at: ResearchPlace,
  source: ListedSource,
): Promise<void> => {
  const { jobs, sources, clock } = deps;
  const { text, ...read } = await fetchPageText(deps, work, source.url ?? '');
  const twin = work.sources.find(
    ({ status, sha256 }) => status === 'read' && sha256 !== null && sha256 === read.sha256,
  );
  const isNew = text !== null && twin === undefined;
  if (isNew) work.usage.pages++;
  const change = {
    url: read.url,
    title:
      source.title === '' ? truncateText(read.title ?? read.url, MAX_TITLE_LENGTH) : source.title,
    status: isNew ? ('read' as const) : ('failed' as const),
    sha256: read.sha256,
    error: twin ? `The page has the same text as source ${twin.n}` : read.error,
    retrieved_at: iso(clock.now()),
  };
  Object.assign(source, change);
  const update = { ...change, text: isNew ? text : null };
  await advance(jobs, work, at, [sources.change(work.job.id, source.n, update)]);
};

interface PageRead {
  url: string;
  title: string | null;
  text: string | null;
  sha256: string | null;
  error: string | null;
}

const fetchPageText = async (
  { web: { getAllowedPage, readPage } }: ResearchDeps,
  work: ResearchWork,
  url: string,
): Promise<PageRead> => {
  const failed = (error: string): PageRead => ({
    url,
    title: null,
    text: null,
    sha256: null,
    error: truncateText(error, 1000),
  });
  const { run, readingDeadline } = work;
  if (readingDeadline.aborted) return failed(NO_TIME_TO_READ);
  const signal = AbortSignal.any([run.signal, readingDeadline]);
  try {
    const asker = { userId: run.userId, signal };
    const page = await getAllowedPage(url, asker);
    const { content, title } = await readPage(page, WISH, asker);
    const text = (content ?? '').slice(0, MAX_CHARS).trim();
    if (text === '') return failed('The page has no text');
    const sha256 = createHash('sha256').update(text).digest('hex');
    return { url: page.url, title: title && truncateText(title, 300), text, sha256, error: null };
  } catch (error) {
    run.signal.throwIfAborted();
    if (readingDeadline.aborted) return failed(NO_TIME_TO_READ);
    if (error instanceof PageFailed) return failed(error.message);
    if (error instanceof PageUnreadable) return failed(error.describe('The page'));
    throw error;
  }
};
