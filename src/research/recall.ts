import { createHash } from 'node:crypto';
import { isBoom } from '@hapi/boom';
import { iso } from '../kernel/clock.js';
import { CITABLE_TYPES, stripQuerySyntax } from '../knowledge/module.js';
import type { ResearchSourceRow } from '../store/tables/research.js';
import { DEPTHS } from './depths.js';
import {
  addNote,
  advance,
  type ResearchDeps,
  type ResearchKnowledge,
  type ResearchPlace,
  type ResearchWork,
} from './work.js';

/** Chunks that are searched per entry. */
const CHUNKS_PER_ENTRY = 3;

/**
 * Runs after the last query was written and the last page was read, so that no private text gets
 * into a query or address.
 */
export const recallKnowledge = async (
  { jobs, sources, knowledge, clock }: ResearchDeps,
  work: ResearchWork,
  at: ResearchPlace,
): Promise<ResearchPlace> => {
  const writing: ResearchPlace = { ...at, step: 'write' };
  if (!work.kinds.includes('knowledge')) return advance(jobs, work, writing);
  const entries = await entriesFor(knowledge, work);
  const now = iso(clock.now());
  const rows = entries.map(
    ({ entryId, title, text }, place): ResearchSourceRow => ({
      job_id: work.job.id,
      n: work.sources.length + place + 1,
      user_id: work.run.userId,
      url: null,
      entry_id: entryId,
      title,
      status: 'read',
      used: 0,
      text,
      sha256: createHash('sha256').update(text).digest('hex'),
      error: null,
      retrieved_at: now,
    }),
  );
  work.sources.push(...rows);
  return advance(jobs, work, writing, rows.map(sources.insert));
};

interface RecalledEntry {
  entryId: string;
  title: string;
  text: string;
}

const entriesFor = async (
  knowledge: ResearchKnowledge,
  work: ResearchWork,
): Promise<RecalledEntry[]> => {
  const { run, job, limits, sources } = work;
  const most = Math.min(DEPTHS[job.depth].entries, limits.maxSources - sources.length);
  if (most <= 0) return [];
  const query = stripQuerySyntax(job.question);
  const found = new Map<string, RecalledEntry>();
  try {
    const limit = most * CHUNKS_PER_ENTRY;
    const filters = { sourceType: [...CITABLE_TYPES] };
    const chunks = await knowledge.search(run.userId, query, limit, filters);
    for (const { entryId, title, text } of chunks ?? []) {
      const known = found.get(entryId);
      if (known) known.text += `\n\n${text}`;
      else if (found.size < most) found.set(entryId, { entryId, title, text });
    }
  } catch (error) {
    if (!isBoom(error)) throw error;
    addNote(work, `Your knowledge was not searched: ${error.message}.`, true);
  }
  return [...found.values()];
};
