import type { ScreenPage } from '../../page.js';
import { markedAt, markedRows, type TextMarks } from '../../parts/marks.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { factRows } from '../../parts/text.js';
import { type ChunkItem, chunkKey } from '../../state/rows.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { detailPage } from '../detail.js';
import { askAct } from './acts.js';
import { trustTone } from './entries.js';
import { foundItem } from './hits.js';
import { hitMarks, parentCitations, sourcePlace, typedMarks } from './source.js';

const getEntryId = ({ ui }: State): string => topView(ui).of ?? '';
const getChunkKey = (state: State): string =>
  chunkKey(getEntryId(state), topView(state.ui).id ?? '');
const shownChunk = (state: State): ChunkItem | null =>
  state.lists.chunks.byId[getChunkKey(state)] ?? null;

/** The search hit for this chunk. `undefined` if the search did not find it. */
const hitHere = (state: State) =>
  foundItem(state)?.results.find(
    ({ entryId, chunk }) => chunkKey(entryId, chunk) === getChunkKey(state),
  );

/** Positions of the quotes, or of the search matches, in the chunk. */
const marksIn = (state: State, { text }: ChunkItem): TextMarks => {
  const typed = typedMarks(state, text);
  if (typed) return typed;
  const citations = parentCitations(state);
  if (citations) {
    return citations
      .filter(({ entryId, chunk }) => chunkKey(entryId, chunk) === getChunkKey(state))
      .map(({ from, to }) => [from, to] as const)
      .sort(([a], [b]) => a - b);
  }
  const hit = hitHere(state);
  return hit ? hitMarks(text, hit) : [];
};

const chunkRows = (state: State, chunk: ChunkItem, width: number): ScreenRow[] => {
  const { uri, heading } = chunk;
  const facts: [string, string][] = [];
  if (uri !== null) facts.push(['Source', uri]);
  if (heading !== null) facts.push(['Under', heading]);
  return [
    ...factRows(facts, width),
    ...(facts.length > 0 ? [[]] : []),
    ...markedRows(chunk.text, marksIn(state, chunk), width),
  ];
};

const headRows = (
  _: State,
  { title, chunk, chunks, page, sourceType, trust }: ChunkItem,
): ScreenRow[] => [
  row(tonedSpan('strong', title)),
  row(
    `chunk ${chunk + 1} of ${chunks}`,
    page === null ? '' : `   page ${page}`,
    `   ${sourceType}   `,
    tonedSpan(trustTone(trust), trust),
  ),
];

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

/** One chunk of an entry, in full. */
export const chunkPage: ScreenPage = {
  ...chunkDetail,
  marks: (state, width) => markedAt(chunkDetail.text?.(state, width) ?? []),
  turns: (state, step) => {
    const to = step === 1 ? shownChunk(state)?.after : shownChunk(state)?.before;
    return to === null || to === undefined ? null : { id: String(to), scroll: 0 };
  },
  related: (state) => {
    const chunk = shownChunk(state);
    return chunk && sourcePlace(chunk);
  },
  acts: () => ({ message: askAct() }),
  copies: getEntryId,
  line: (state) => `adjutant knowledge chunk ${getChunkKey(state)}`,
  summary: (state) => {
    const chunk = shownChunk(state);
    if (!chunk) return '';
    const { before, after } = chunk;
    if (before === null && after === null) return 'the only chunk';
    if (before === null) return 'the first chunk   (] next)';
    return after === null ? 'the last chunk   ([ previous)' : '[ previous chunk, ] next chunk';
  },
  needs: (state) => [{ is: 'list', list: 'chunks', of: getChunkKey(state) }],
};
