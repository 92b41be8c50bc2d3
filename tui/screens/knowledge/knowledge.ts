import type { ScreenPage } from '../../page.js';
import { type ScreenRow, type Size, tonedSpan } from '../../parts/row.js';
import { textRows } from '../../parts/text.js';
import { selectedItem } from '../../state/selection.js';
import type { State } from '../../state/state.js';
import { knowledgeActs, quotedWord } from './acts.js';
import { entriesPage } from './entries.js';
import { foundItem, hitsPage, shownQuery } from './hits.js';

const isSearching = (state: State): boolean => shownQuery(state) !== '';
const shown = (state: State): ScreenPage => (isSearching(state) ? hitsPage : entriesPage);

/** Reason for a degraded search. No rows if the search was complete. */
const degradedRows = (state: State, width: number): ScreenRow[] => {
  const why = isSearching(state) ? foundItem(state)?.degraded : null;
  return why ? textRows(`degraded: ${why}`, width, true, 'warn') : [];
};

/** Reason why the daemon rejects the query. `null` if it accepts it or does not reply. */
const refusedRows = (state: State, width: number): ScreenRow[] | null => {
  const { trouble } = state.lists.found;
  if (!isSearching(state) || trouble?.status !== 400) return null;
  return textRows(`Search failed: ${trouble.message}`, width, true, 'warn');
};

const bodyUnder = (head: readonly ScreenRow[], size: Size): Size => ({
  ...size,
  height: Math.max(0, size.height - head.length),
});

/** Entry id of the selected row, and its chunk if a hit is selected. */
const chosenWords = (state: State): string[] =>
  (selectedItem(shown(state), state)?.id ?? '').split(' ').filter((word) => word !== '');

export const knowledgePage: ScreenPage = {
  name: 'knowledge',
  title: 'Knowledge',
  tabs: [],
  isSearched: () => true,
  items: (state) => shown(state).items?.(state) ?? [],
  cells: (state) => shown(state).cells?.(state) ?? [],
  text: (state, width) => shown(state).text?.(state, width) ?? null,
  textHeight: (state, size) => {
    const below = bodyUnder(degradedRows(state, size.width), size);
    return shown(state).textHeight?.(state, below) ?? below.height;
  },
  head: (state) =>
    isSearching(state)
      ? [[tonedSpan(undefined, hitsPage.summary?.(state) ?? '')], ...degradedRows(state, 1000)]
      : [],
  view: (state, size) => {
    const above = degradedRows(state, size.width);
    const rows = () => shown(state).view(state, bodyUnder(above, size));
    return [...above, ...(refusedRows(state, size.width) ?? rows())];
  },
  opens: (state) => shown(state).opens?.(state) ?? null,
  related: (state) => shown(state).related?.(state) ?? null,
  acts: (state) => ({ ...knowledgeActs(), ...shown(state).acts?.(state) }),
  leaves: (state) => shown(state).leaves?.(state) ?? {},
  pages: (state) => shown(state).pages?.(state) ?? null,
  summary: (state) => shown(state).summary?.(state) ?? '',
  needs: (state) => shown(state).needs(state),
  copies: (state) => chosenWords(state)[0] ?? '',
  line: (state) => {
    const [id, chunk] = chosenWords(state);
    if (chunk !== undefined) return `adjutant knowledge chunk ${id} ${chunk}`;
    if (isSearching(state)) return `adjutant knowledge search ${quotedWord(shownQuery(state))}`;
    return `adjutant knowledge ${id === undefined ? 'list' : `get ${id}`}`;
  },
  glossary: [
    ['outside', 'written by others; an agent that reads it becomes untrusted'],
    ['chunk', 'the part of a text that a search returns'],
    ['degraded', 'some entries were not searched, or not by meaning'],
  ],
};
