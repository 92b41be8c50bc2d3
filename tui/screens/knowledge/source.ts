import type { TextMarks } from '../../parts/marks.js';
import { documentPlace, reportPlace, type ScreenPlace } from '../../state/places.js';
import type { AnswerItem, SearchHit } from '../../state/rows.js';
import type { State } from '../../state/state.js';
import { stackOf, topView } from '../../state/ui.js';

/**
 * Returns the place of what a text is from: the page of its document, or its report; null if the
 * desk shows no more of the source than the text.
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

/** Returns the place of the chunk itself. */
export const chunkPlace = ({
  entryId,
  chunk,
}: Pick<SearchHit, 'entryId' | 'chunk'>): ScreenPlace => ({
  page: 'chunk',
  id: String(chunk),
  of: entryId,
});

/** Returns the citations of the answer that led here; null if none did. */
export const citationsBelow = ({ ui, lists }: State): AnswerItem['citations'] | null => {
  const below = stackOf(ui).findLast(({ page }) => page !== 'chunk' && page !== 'document');
  if (below?.page !== 'answer') return null;
  return lists.answers.byId[below.id ?? '']?.citations ?? null;
};

/** Returns the places of what is searched for on this page; null if nothing is. */
export const typedMarks = ({ ui }: State, text: string): TextMarks | null => {
  const { filter } = topView(ui);
  if (filter === '') return null;
  const found = text.matchAll(new RegExp(filter.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), 'giu'));
  return [...found].map((match) => [match.index, match.index + match[0].length]);
};

/** Returns the places of the first of each quote in the text that they were cut from. */
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

/** Returns the highlights of a snippet as places of the text that it was cut from. */
export const hitMarks = (text: string, { snippet, highlights }: SearchHit): TextMarks => {
  const core = snippet.replace(/^…/, '').replace(/…$/, '');
  const start = text.replace(/\s/g, ' ').indexOf(core);
  if (start < 0) return [];
  const shift = start - (snippet.startsWith('…') ? 1 : 0);
  return highlights.map(([from = 0, to = 0]) => [from + shift, to + shift]);
};
