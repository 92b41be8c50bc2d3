import type { ScreenPage } from '../../page.js';
import { markedRows, markedWords } from '../../parts/marks.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { column, numberColumn } from '../../parts/table.js';
import { countedNoun, factRows } from '../../parts/text.js';
import { chunkKey, FOUND, type FoundItem, type SearchHit } from '../../state/rows.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { listPage } from '../list.js';
import { deleteEntry } from './acts.js';
import { trustTone } from './entries.js';
import { chunkPlace, sourcePlace } from './source.js';

/** Time without typing before the daemon is asked, in milliseconds. */
const TYPED_MS = 200;

export const shownQuery = ({ ui }: State): string => topView(ui).filter.trim();

/** The last result, which may belong to an earlier query. `null` if the search failed. */
export const foundItem = ({ lists: { found } }: State): FoundItem | null =>
  found.trouble ? null : (found.byId[FOUND] ?? null);

const buildHitKey = ({ entryId, chunk }: SearchHit): string => chunkKey(entryId, chunk);

const formatHitPosition = ({ page, chunk }: SearchHit): string =>
  page === null ? `chunk ${chunk + 1}` : `page ${page}`;

const hitRows = (_: State, hit: SearchHit, width: number): ScreenRow[] => {
  const { title, trust, sourceType, uri, matched, snippet, highlights } = hit;
  const words = markedWords(snippet, highlights);
  const facts: [string, string][] = [['From', `${sourceType}   ${formatHitPosition(hit)}`]];
  if (uri !== null) facts.push(['Source', uri]);
  facts.push(['Found by', matched.join(', ')]);
  if (words.length > 0) facts.push(['Matched', words.join(', ')]);
  return [
    row(tonedSpan('strong', title), '   ', tonedSpan(trustTone(trust), trust)),
    ...factRows(facts, width),
    [],
    ...markedRows(snippet, highlights, width),
  ];
};

const formatHitsSummary = (state: State): string => {
  const found = foundItem(state);
  if (state.lists.found.trouble) return '';
  if (found?.query !== shownQuery(state)) return 'searching…';
  const { results, mode } = found;
  return `${countedNoun(results.length, 'hit')}, ${mode}${found.degraded === null ? '' : ', degraded'}`;
};

export const hitsPage: ScreenPage = listPage<SearchHit>({
  name: 'knowledge',
  title: 'Knowledge',
  noun: 'hit',
  list: 'found',
  isSearched: true,
  rows: (state) => foundItem(state)?.results ?? [],
  item: (hit) => ({ id: buildHitKey(hit), name: hit.title, words: hit.sourceType }),
  columns: ({ lists }) => [
    column('TITLE', [20, 40, 0], (hit) => lists.entries.busy[buildHitKey(hit)] ?? hit.title),
    column('FROM', [6, 8, 3], ({ sourceType }) => sourceType),
    { ...column('TRUST', [7, 7, 4], ({ trust }) => trust), tone: ({ trust }) => trustTone(trust) },
    numberColumn('PAGE', [4, 5, 5], ({ page }) => (page === null ? '-' : String(page))),
    column('SNIPPET', [20, 200, 1], ({ snippet }) => snippet),
  ],
  detail: hitRows,
  empty: ['No matches.', '  esc  clear the search', '  i    ask a question'],
  needs: (state) => [{ is: 'list', list: 'found', of: shownQuery(state), afterMs: TYPED_MS }],
  pages: () => null,
  opens: chunkPlace,
  related: (hit) => sourcePlace(hit) ?? chunkPlace(hit),
  acts: (hit) => ({ delete: deleteEntry(buildHitKey(hit), { id: hit.entryId, title: hit.title }) }),
  leaves: (hit) => ({ edit: hit && ['knowledge', 'update', hit.entryId] }),
  summary: formatHitsSummary,
});
