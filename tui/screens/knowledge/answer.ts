import type { KnowledgeAnswer } from '../../../src/client/index.js';
import type { ScreenPage } from '../../page.js';
import { emptyStateRows } from '../../parts/emptystate.js';
import { row, type ScreenRow, type Size, tonedSpan } from '../../parts/row.js';
import { column, numberColumn, type ScreenColumn, tableRows } from '../../parts/table.js';
import { countedNoun, scrolledRows, textRows } from '../../parts/text.js';
import type { ScreenPlace } from '../../state/locations.js';
import type { AnswerItem } from '../../state/rows.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { rowsFor } from '../list.js';
import { askAct, quotedWord } from './acts.js';
import { chunkPlace, sourcePlace } from './source.js';

type Cited = KnowledgeAnswer['citations'][number];

/** Minimum visible rows of the citations, with their head. */
const MIN_TABLE = 4;

const getQuestion = ({ ui }: State): string => topView(ui).id ?? '';
const shownAnswer = (state: State): AnswerItem | null =>
  state.lists.answers.byId[getQuestion(state)] ?? null;

const COLUMNS: ScreenColumn<Cited>[] = [
  numberColumn('N', [3, 4, 0], ({ n }) => `[${n}]`),
  column('SOURCE', [14, 40, 0], ({ title }) => title),
  numberColumn('PAGE', [4, 5, 2], ({ page }) => (page === null ? '-' : String(page))),
  column('QUOTE', [20, 400, 1], ({ quote }) => quote.replace(/\s+/g, ' ')),
];

const citations = rowsFor<Cited>({
  rows: (state) => shownAnswer(state)?.citations ?? [],
  item: ({ n, title, quote }) => ({ id: String(n), name: title, words: quote }),
  columns: () => COLUMNS,
});

/** Model of the answer, and whether each sentence has a quote. */
const proofRow = ({ grounded, model }: AnswerItem): ScreenRow => {
  const who = model === null ? 'no model was used' : `by ${model}`;
  return grounded
    ? row(tonedSpan('ok', 'Every sentence has a quote'), `   ${who}`)
    : row(tonedSpan('warn', 'Some sentences have no quote'), `   ${who}`);
};

const answerRows = (state: State, width: number): ScreenRow[] | null => {
  const answer = shownAnswer(state);
  if (!answer) return null;
  return [
    ...textRows(answer.id, width, true, 'strong'),
    [],
    ...textRows(answer.answer, width, true),
    [],
    proofRow(answer),
  ];
};

/** Rows for the answer, so that some citations stay visible. */
const answerHeight = (state: State, { width, height }: Size): number => {
  const rows = answerRows(state, width)?.length ?? 0;
  const cited = shownAnswer(state)?.citations.length ?? 0;
  const table = cited === 0 ? 0 : Math.min(cited + 2, Math.max(MIN_TABLE, height >> 1));
  if (topView(state.ui).isZoomed) return height;
  return Math.max(0, Math.min(rows, height - table));
};

const answerView = (state: State, size: Size): ScreenRow[] => {
  const rows = answerRows(state, size.width);
  if (!rows) {
    const question = row(tonedSpan('strong', getQuestion(state)));
    const words = { noun: 'answer', empty: [] };
    return [
      question,
      [],
      ...emptyStateRows({ ...state.lists.answers, loadedAt: null }, words, state, size),
    ];
  }
  const height = answerHeight(state, size);
  const { scroll, pane } = topView(state.ui);
  const above = scrolledRows(rows, scroll, { ...size, height });
  const shown = citations.shown(state);
  if (shown.length === 0 || height >= size.height) return above;
  const below = { ...size, height: size.height - height - 1 };
  const chosen = { at: citations.at(state), isQuiet: pane === 1 };
  return [...above, [], ...tableRows(shown, COLUMNS, below, chosen)];
};

const citedPlace = (state: State): ScreenPlace | null => {
  const chosen = citations.chosen(state);
  return chosen && chunkPlace(chosen);
};

export const answerPage: ScreenPage = {
  name: 'answer',
  title: 'Answer',
  tabs: [],
  items: citations.items,
  cells: citations.cells,
  text: answerRows,
  textHeight: answerHeight,
  head: (state) => answerRows(state, Number.MAX_SAFE_INTEGER) ?? [],
  view: answerView,
  // The columns already show all of a citation.
  detail: () => null,
  opens: citedPlace,
  related: (state) => {
    const chosen = citations.chosen(state);
    return chosen && (sourcePlace(chosen) ?? chunkPlace(chosen));
  },
  acts: () => ({ message: askAct() }),
  copies: (state) => shownAnswer(state)?.answer ?? '',
  line: (state) => `adjutant knowledge ask ${quotedWord(getQuestion(state))}`,
  summary: (state) => {
    const answer = shownAnswer(state);
    if (!answer) return state.lists.answers.trouble ? '' : 'asking…   (continues if you leave)';
    return `${countedNoun(answer.citations.length, 'citation')}   (enter opens one, o its source, tab scrolls the answer)`;
  },
  glossary: [['[1]', 'the number of the citation for this sentence']],
  needs: (state) => [{ is: 'list', list: 'answers', of: getQuestion(state) }],
};
