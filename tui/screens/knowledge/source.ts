import type { TextMarks } from '../../parts/marks.js';
import { documentPlace, reportPlace, type ScreenPlace } from '../../state/locations.js';
import type { AnswerItem, SearchHit } from '../../state/rows.js';
import type { State } from '../../state/state.js';
import { getScreenStack, topView } from '../../state/ui.js';

/**
 * Page of the document or report that a text comes from. `null` if the desk cannot show more than
 * the text.
 */
export const sourcePlace = ({
  sourceType,
  sourceId,
  page,
}: Pick<SearchHit, 'sourceType' | 'sourceId' | 'page'>): ScreenPlace | null => {
  if (sourceId === null) return null;
  if (sourceType === 'document') return documentPlace(sourceId, page ?? 1);
  return sourceType === 'research' ? reportPlace(sourceId) : null;
};

export const chunkPlace = ({
  entryId,
  chunk,
}: Pick<SearchHit, 'entryId' | 'chunk'>): ScreenPlace => ({
  page: 'chunk',
  id: String(chunk),
  of: entryId,
});

/** Citations of the answer below this page. `null` if there is none. */
export const parentCitations = ({ ui, lists }: State): AnswerItem['citations'] | null => {
  const below = getScreenStack(ui).findLast(({ page }) => page !== 'chunk' && page !== 'document');
  if (below?.page !== 'answer') return null;
  return lists.answers.byId[below.id ?? '']?.citations ?? null;
};

/** Positions of the search words on this page. `null` without a search. */
export const typedMarks = ({ ui }: State, text: string): TextMarks | null => {
  const { filter } = topView(ui);
  if (filter === '') return null;
  const found = text.matchAll(new RegExp(filter.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), 'giu'));
  return [...found].map((match) => [match.index, match.index + match[0].length]);
};

/** Position of the first occurrence of each quote in its source text. */
export const quoteMarks = (text: string, quotes: readonly string[]): TextMarks => {
  const marks: [number, number][] = [];
  const places = [...new Set(quotes)]
    .map((quote): [number, number] => [text.indexOf(quote), quote.length])
    .filter(([at]) => at >= 0)
    .sort(([a], [b]) => a - b);
  for (const [at, length] of places) {
    const from = Math.max(at, marks.at(-1)?.[1] ?? 0);
    if (from < at + length) marks.push([from, at + length]);
  }
  return marks;
};

/** Positions of snippet highlights in the source text. */
export const hitMarks = (text: string, { snippet, highlights }: SearchHit): TextMarks => {
  const core = snippet.replace(/^…/, '').replace(/…$/, '');
  const start = text.replace(/\s/g, ' ').indexOf(core);
  if (start < 0) return [];
  const shift = start - (snippet.startsWith('…') ? 1 : 0);
  return highlights.map(([from = 0, to = 0]) => [from + shift, to + shift]);
};
