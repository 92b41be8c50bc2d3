import { iso } from '../kernel/clock.js';
import { orNotFound, resource } from '../kernel/route.js';
import { foldText } from '../kernel/searchwords.js';
import {
  type KnowledgeChunkRow,
  type KnowledgeEntryRow,
  knowledgeEntryTable,
} from '../store/tables/knowledge.js';
import { viewer } from '../store/view.js';
import { askKnowledge } from './ask.js';
import { KnowledgeEntry, knowledge } from './contract.js';
import type { KnowledgeText } from './entries.js';
import { searchKnowledge, textOrigin, viewSearchResult } from './search.js';
import { beginEntry, deriveTitle, type KnowledgeDeps } from './service.js';
import { knowledgeStats } from './stats.js';

const MAX_SHOWN = 1_000_000;

const viewEntry = viewer(knowledgeEntryTable, KnowledgeEntry, {});

export const knowledgeResource = (deps: KnowledgeDeps) => {
  const { clock, entries, index } = deps;

  const find = async (userId: string, id: string): Promise<KnowledgeEntryRow> =>
    orNotFound(await entries.get(userId, id), 'No entry with that id');

  return resource('knowledge', knowledge, {
    list: async ({ query }, { userId }) => {
      const { rows, nextCursor } = await entries.list(userId, query);
      return { entries: rows.map(viewEntry), nextCursor };
    },
    create: async ({ body }, { userId }) => {
      const { id } = await beginEntry(deps, createNote(userId, body));
      return viewEntry(await find(userId, id));
    },
    stats: (_, { userId }) => knowledgeStats(deps, userId),
    search: async ({ body }, { userId }) => {
      const since = performance.now();
      const { mode, degraded, chunks } = await searchKnowledge(deps, userId, body);
      const tookMs = Math.round((performance.now() - since) * 10) / 10;
      return { mode, degraded, results: chunks.map(viewSearchResult), tookMs };
    },
    ask: async ({ body }, { userId, signal }) =>
      (await askKnowledge(deps, { userId, ...body, signal })).answer,
    index: async ({ body }, { userId }) => {
      const { text, url, documentId, path, title, tags, ...folder } = body;
      const sources = deps.sources();
      if (url !== undefined) return sources.url(userId, { url, tags: tags ?? [] });
      if (documentId !== undefined) {
        return sources.document(userId, { documentId, tags: tags ?? null });
      }
      if (path !== undefined) return sources.path(userId, { ...folder, path, tags });
      const note = { text: text ?? '', ...(title !== undefined && { title }), tags: tags ?? [] };
      return (await beginEntry(deps, createNote(userId, note))).operation;
    },
    get: async ({ id }, { userId }) => {
      const row = await find(userId, id);
      const content = joinChunks(await entries.chunksBefore(userId, id, MAX_SHOWN));
      const truncated = row.chars > MAX_SHOWN;
      return { ...viewEntry(row), content: content.slice(0, MAX_SHOWN), truncated };
    },
    chunk: async ({ id, n }, { userId }) => {
      const entry = viewEntry(await find(userId, id));
      const number = /^\d{1,9}$/.test(n) ? Number(n) : -1;
      const row = orNotFound(await entries.chunk(userId, id, number), 'No chunk with that number');
      return {
        entryId: id,
        chunk: number,
        chunks: entry.chunks,
        ...textOrigin(entry),
        text: row.text.trimEnd(),
        page: row.page,
        heading: row.heading,
        before: number > 0 ? number - 1 : null,
        after: number + 1 < entry.chunks ? number + 1 : null,
      };
    },
    update: async ({ id, body: { title, tags } }, { userId }) => {
      const change = {
        ...(title !== undefined && { title: title.trim(), folded_title: foldText(title) }),
        ...(tags !== undefined && { tags: JSON.stringify(tags) }),
        updated_at: iso(clock.now()),
      };
      await entries.update(userId, id, change);
      index.changed();
      return viewEntry(await find(userId, id));
    },
    delete: async ({ id }, { userId }) => {
      if (!(await entries.delete(userId, id))) await find(userId, id);
      index.changed();
    },
  });
};

const createNote = (
  userId: string,
  { text, title = deriveTitle(text), tags = [] }: { text: string; title?: string; tags?: string[] },
): KnowledgeText => ({
  userId,
  sourceType: 'note',
  sourceId: null,
  uri: null,
  title: title.trim(),
  tags,
  trust: 'owner',
  text,
});

/** Joins chunks to the original text. Text between chunks is white space. */
const joinChunks = (chunks: KnowledgeChunkRow[]): string => {
  let content = '';
  for (const { start, text } of chunks) {
    content += '\n'.repeat(Math.max(0, start - content.length));
    content += text.slice(Math.max(0, content.length - start));
  }
  return content;
};
