import type { ScreenPage } from '../../page.js';
import { markedAt, markedRows, type TextMarks } from '../../parts/marks.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { factRows } from '../../parts/text.js';
import { type ChunkItem, chunkKey } from '../../state/rows.js';
import type { State } from '../../state/state.js';
import { stackOf, topView } from '../../state/ui.js';
import { detailPage } from '../detail.js';
import { askAct } from './acts.js';
import { trustTone } from './entries.js';
import { foundItem } from './hits.js';

const entryOf = ({ ui }: State): string => topView(ui).of ?? '';
const keyOf = (state: State): string => chunkKey(entryOf(state), topView(state.ui).id ?? '');
const shownChunk = (state: State): ChunkItem | null =>
  state.lists.chunks.byId[keyOf(state)] ?? null;

/** Returns the answer whose citation led here; undefined if none did. */
const answerBelow = ({ ui, lists }: State) => {
  const below = stackOf(ui).findLast(({ page }) => page !== 'chunk');
  return below?.page === 'answer' ? lists.answers.byId[below.id ?? ''] : undefined;
};

/** Returns the hit that is this chunk; undefined if the search did not find it. */
const hitHere = (state: State) =>
  foundItem(state)?.results.find(({ entryId, chunk }) => chunkKey(entryId, chunk) === keyOf(state));

/** Returns the source of the shown chunk, as far as some list has it. */
const sourceOf = (state: State) => {
  const entry = state.lists.entries.byId[entryOf(state)];
  const found = foundItem(state)?.results.find(({ entryId }) => entryId === entryOf(state));
  const cited = answerBelow(state)?.citations.find(({ entryId }) => entryId === entryOf(state));
  return { entry, ...cited, ...found, ...entry };
};

/** Returns the places of the quotes, or of what the search matched, in the chunk. */
const marksIn = (state: State, { text }: ChunkItem): TextMarks => {
  const answer = answerBelow(state);
  if (answer) {
    return answer.citations
      .filter(({ entryId, chunk }) => chunkKey(entryId, chunk) === keyOf(state))
      .map(({ from, to }) => [from, to] as const)
      .sort(([a], [b]) => a - b);
  }
  const hit = hitHere(state);
  return hit ? placedMarks(text, hit) : [];
};

/** Returns the highlights of a snippet as places of the text that it was cut from. */
const placedMarks = (
  text: string,
  { snippet, highlights }: { snippet: string; highlights: number[][] },
): TextMarks => {
  const core = snippet.replace(/^…/, '').replace(/…$/, '');
  const start = text.replace(/\s/g, ' ').indexOf(core);
  if (start < 0) return [];
  const shift = start - (snippet.startsWith('…') ? 1 : 0);
  return highlights.map(([from = 0, to = 0]) => [from + shift, to + shift]);
};

const chunkRows = (state: State, chunk: ChunkItem, width: number): ScreenRow[] => {
  const { uri } = sourceOf(state);
  const facts: [string, string][] = [];
  if (uri) facts.push(['Source', uri]);
  if (chunk.heading !== null) facts.push(['Under', chunk.heading]);
  return [
    ...factRows(facts, width),
    ...(facts.length > 0 ? [[]] : []),
    ...markedRows(chunk.text, marksIn(state, chunk), width),
  ];
};

const headRows = (state: State, { page }: ChunkItem): ScreenRow[] => {
  const { entry, title, sourceType, trust } = sourceOf(state);
  const total = entry ? ` of ${entry.chunks}` : '';
  return [
    row(tonedSpan('strong', title ?? `entry …${entryOf(state).slice(-6)}`)),
    row(
      `chunk ${Number(topView(state.ui).id) + 1}${total}`,
      page === null ? '' : `   page ${page}`,
      sourceType ? `   ${sourceType}` : '',
      ...(trust ? ['   ', tonedSpan(trustTone(trust), trust)] : []),
    ),
  ];
};

const chunkDetail = detailPage<ChunkItem>({
  name: 'chunk',
  title: 'Chunk',
  noun: 'chunk',
  tabs: [],
  list: 'chunks',
  shown: shownChunk,
  head: headRows,
  text: chunkRows,
});

/** One chunk of an entry, whole, with the chunks before and after it. */
export const chunkPage: ScreenPage = {
  ...chunkDetail,
  marks: (state, width) => markedAt(chunkDetail.text?.(state, width) ?? []),
  turns: (state, step) => {
    const to = step === 1 ? shownChunk(state)?.after : shownChunk(state)?.before;
    return to === null || to === undefined ? null : { id: String(to), scroll: 0 };
  },
  acts: () => ({ message: askAct() }),
  copies: entryOf,
  line: (state) => `adjutant knowledge chunk ${keyOf(state)}`,
  summary: (state) => {
    const chunk = shownChunk(state);
    if (!chunk) return '';
    const { before, after } = chunk;
    if (before === null && after === null) return 'the only chunk';
    if (before === null) return 'the first chunk   (] the next one)';
    return after === null
      ? 'the last chunk   ([ the one before)'
      : '[ the chunk before, ] the one after';
  },
  needs: (state) => [
    { is: 'list', list: 'chunks', of: keyOf(state) },
    { is: 'list', list: 'entries' },
  ],
};
