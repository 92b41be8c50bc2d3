import type { ScreenPage } from '../../page.js';
import { markedAt, markedRows, type TextMarks } from '../../parts/marks.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { textRows } from '../../parts/text.js';
import { type DocumentPageItem, pageKey } from '../../state/rows.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { detailPage } from '../detail.js';
import { foundItem } from './hits.js';
import { hitMarks, parentCitations, quoteMarks, typedMarks } from './source.js';

const getDocumentId = ({ ui }: State): string => topView(ui).of ?? '';
const getPageNumber = ({ ui }: State): number => Number(topView(ui).id);
const getPageKey = (state: State): string => pageKey(getDocumentId(state), getPageNumber(state));
const shownPage = (state: State): DocumentPageItem | null =>
  state.lists.documentPages.byId[getPageKey(state)] ?? null;

/** Positions of the quotes of an answer, or of the search matches. */
const marksIn = (state: State, { text }: DocumentPageItem): TextMarks => {
  const isHere = ({ sourceId, page }: { sourceId: string | null; page: number | null }): boolean =>
    sourceId === getDocumentId(state) && (page ?? 1) === getPageNumber(state);
  const typed = typedMarks(state, text);
  const cited = parentCitations(state)?.filter(isHere);
  if (typed || cited) return typed ?? quoteMarks(text, cited?.map(({ quote }) => quote) ?? []);
  const marks = (foundItem(state)?.results ?? [])
    .filter(isHere)
    .flatMap((hit) => hitMarks(text, hit))
    .sort(([a = 0], [b = 0]) => a - b);
  return marks;
};

const pageRows = (state: State, page: DocumentPageItem, width: number): ScreenRow[] =>
  page.text.trim() === ''
    ? textRows(`No text could be read from this page. ${page.error ?? ''}`, width, true, 'warn')
    : markedRows(page.text, marksIn(state, page), width);

const headRows = (_: State, { filename, number, pages, ocr, confidence }: DocumentPageItem) => [
  row(tonedSpan('strong', filename)),
  row(
    `page ${number}${pages === null ? '' : ` of ${pages}`}`,
    ocr ? `   recognized from an image${confidence === null ? '' : `, ${confidence} %`}` : '',
  ),
];

const documentDetail = detailPage<DocumentPageItem>({
  name: 'document',
  title: 'Document',
  noun: 'page',
  tabs: [],
  list: 'documentPages',
  shown: shownPage,
  head: headRows,
  text: pageRows,
});

export const documentPage: ScreenPage = {
  ...documentDetail,
  marks: (state, width) => markedAt(documentDetail.text?.(state, width) ?? []),
  turns: (state, step) => {
    const to = getPageNumber(state) + step;
    const pages = shownPage(state)?.pages ?? 0;
    return to < 1 || to > pages ? null : { id: String(to), scroll: 0 };
  },
  copies: getDocumentId,
  line: (state) => `adjutant documents text ${getDocumentId(state)} --page ${getPageNumber(state)}`,
  summary: (state) => {
    const page = shownPage(state);
    if (!page) return '';
    const isFirst = page.number === 1;
    const isLast = page.number === (page.pages ?? 0);
    const marks = marksIn(state, page).length > 0 ? '   (n next mark)' : '';
    if (isFirst && isLast) return `the only page${marks}`;
    if (isFirst) return `the first page   (] next)${marks}`;
    return isLast ? `the last page   ([ previous)${marks}` : `[ previous page, ] next page${marks}`;
  },
  needs: (state) => [{ is: 'list', list: 'documentPages', of: getPageKey(state) }],
};
