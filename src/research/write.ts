import { digest } from '../providers/llm/digest.js';
import { askForJob, promptRoom, sourceMark } from './ask.js';
import {
  digestDraft,
  draftTurns,
  parseDraft,
  type ResearchDraft,
  retryTurns,
  type SourceText,
} from './draft.js';
import { verifyReport } from './report.js';
import type { ResearchSourcesStore } from './sources.js';
import {
  addNote,
  advance,
  type ResearchDeps,
  type ResearchPlace,
  type ResearchWork,
} from './work.js';

const OUTPUT_TOKENS = 8192;

export const writeDraft = async (
  deps: ResearchDeps,
  work: ResearchWork,
  at: ResearchPlace,
): Promise<ResearchPlace> => {
  const { job } = work;
  const sources = await loadSourceTexts(deps.sources, work);
  const written = sources.length > 0 ? await askForDraft(deps, work, sources) : null;
  const draft = written ?? (await digestDraft(sources, job.question, digest.name));
  const row = { job_id: job.id, draft: JSON.stringify(draft), report: null };
  return advance(deps.jobs, work, { ...at, step: 'verify' }, [deps.sources.insertDraft(row)]);
};

const loadSourceTexts = async (
  store: ResearchSourcesStore,
  { run, job }: ResearchWork,
): Promise<SourceText[]> => {
  const sources = await store.read(run.userId, job.id);
  return sources.flatMap(({ n, url, entry_id, title, text }) =>
    text === null ? [] : [{ n, url, entry_id, title, text }],
  );
};

/** Retries once after an invalid reply. Resolves to null if no model writes a draft. */
const askForDraft = async (
  { userCalls }: ResearchDeps,
  work: ResearchWork,
  sources: SourceText[],
): Promise<ResearchDraft | null> => {
  const { question, depth } = work.job;
  const room = promptRoom(userCalls, work, OUTPUT_TOKENS);
  const turns = await draftTurns({ question, depth, sources, room, mark: sourceMark(work) });
  const first = await askForJob(userCalls, work, { turns, maxOutputTokens: OUTPUT_TOKENS });
  if (!first) return null;
  const draft = parseDraft(first.text, first.model);
  if (draft) return draft;
  const retry = retryTurns(turns, first.text);
  const second = await askForJob(userCalls, work, { turns: retry, maxOutputTokens: OUTPUT_TOKENS });
  const shorter = second && parseDraft(second.text, second.model);
  if (second && !shorter)
    addNote(work, 'The reply of the language model was not in the expected format.');
  return shorter;
};

export const verifyDraft = async (
  { jobs, sources: store }: ResearchDeps,
  work: ResearchWork,
  at: ResearchPlace,
): Promise<ResearchPlace> => {
  const { run, job } = work;
  const unread = work.sources.filter(({ status }) => status === 'failed');
  if (unread.length > 0)
    addNote(work, `Pages that could not be read: ${unread.length} of ${pagesIn(work)}.`);
  const notes = work.notes.map(({ sentence }) => sentence);
  const sources = await loadSourceTexts(store, work);
  const row = await store.report(run.userId, job.id);
  const draft: ResearchDraft = JSON.parse(
    row?.draft ?? '{"model":"","sections":[],"limitations":[]}',
  );
  const material = { sources, unread, notes };
  const { report, used } = await verifyReport(job.question, draft, material);
  const marked = [...used].map((n) => store.change(job.id, n, { used: 1 }));
  for (const source of work.sources) source.used = used.has(source.n) ? 1 : 0;
  const stored = store.setReport(job.id, JSON.stringify(report));
  return advance(jobs, work, { ...at, step: 'index' }, [stored, ...marked]);
};

const pagesIn = ({ sources }: ResearchWork): number =>
  sources.filter(({ url }) => url !== null).length;
