import { computeTextWidth } from '../../src/kernel/width.js';
import type { ScreenView } from '../state/ui.js';
import { fitRow, plainRowText, type ScreenRow, type Size, tonedSpan } from './row.js';

interface Panes {
  list: Size;
  /** `null` if there is no room for the detail, or the list needs no detail. */
  detail: Size | null;
  hasSidePane: boolean;
}

/** Minimum width for a detail beside the list. */
const WIDE = 120;
export const isBeside = ({ width }: Size): boolean => width >= WIDE;
const RULE = 3;
const MIN_BELOW = 4;
/** Minimum columns of a detail beside a list. */
const MIN_BESIDE = 32;

/**
 * Divides a body between a list of `rows` rows, with its head, and the detail. Side by side, a wide
 * list has more than half of the width, and at least `least` columns if that leaves room for the
 * detail.
 */
export const computePanes = (
  size: Size,
  { isZoomed, pane }: Pick<ScreenView, 'isZoomed' | 'pane'>,
  {
    rows,
    isWide = false,
    least = 0,
  }: { rows: number; isWide?: boolean | undefined; least?: number | undefined },
): Panes => {
  if (isZoomed) {
    const none = { width: size.width, height: 0 };
    return pane === 0
      ? { list: size, detail: null, hasSidePane: false }
      : { list: none, detail: size, hasSidePane: false };
  }
  if (isBeside(size)) {
    const wide = isWide
      ? Math.max(Math.floor(size.width * 0.6), Math.min(least, size.width - RULE - MIN_BESIDE))
      : Math.min(64, Math.floor(size.width * 0.45));
    const detail = { width: size.width - wide - RULE, height: size.height };
    return { list: { width: wide, height: size.height }, detail, hasSidePane: true };
  }
  const most = Math.max(3, Math.floor(size.height * 0.4));
  const height = Math.min(rows, most);
  const below = size.height - height - 1;
  if (below < MIN_BELOW) return { list: size, detail: null, hasSidePane: false };
  const list = { width: size.width, height };
  return { list, detail: { width: size.width, height: below }, hasSidePane: false };
};

/** Row between a list and its detail while keys act on the detail. */
const BELOW = '> details: j and k scroll, esc returns to the list';

/**
 * Side by side, the rows of the list are cut to its width. `isInDetail`: keys act on the detail,
 * which is marked so that it is recognizable without colour.
 */
export const joinPanes = (
  { list, hasSidePane }: Panes,
  { above, detail, isInDetail }: { above: ScreenRow[]; detail: ScreenRow[]; isInDetail: boolean },
): ScreenRow[] => {
  if (!hasSidePane)
    return list.height === 0 || detail.length === 0
      ? [...above, ...detail]
      : [...padded(above, list.height), isInDetail ? [tonedSpan('strong', BELOW)] : [], ...detail];
  const height = Math.max(above.length, detail.length, list.height);
  return Array.from({ length: height }, (_, at) => {
    const left = fitRow(above[at] ?? [], list.width);
    const space = ' '.repeat(Math.max(0, list.width - computeTextWidth(plainRowText(left))));
    const rule = isInDetail && at === 0 ? tonedSpan('strong', ' > ') : tonedSpan('muted', ' │ ');
    return [...left, { text: space }, rule, ...(detail[at] ?? [])];
  });
};

const padded = (rows: ScreenRow[], height: number): ScreenRow[] =>
  Array.from({ length: Math.max(rows.length, height) }, (_, at) => rows[at] ?? []);

/** Views as columns, side by side. Each row is cut to its column. */
export const sideBySide = (
  views: readonly { width: number; view: (size: Size) => ScreenRow[] }[],
  height: number,
): ScreenRow[] => {
  const columns = views.map(({ width, view }) => ({ wide: width, rows: view({ width, height }) }));
  return Array.from({ length: height }, (_, at) =>
    columns.flatMap(({ wide, rows }, column) => {
      const cells = fitRow(rows[at] ?? [], wide);
      const space = ' '.repeat(Math.max(0, wide - computeTextWidth(plainRowText(cells))));
      const gap = column < columns.length - 1 ? ' '.repeat(RULE) : '';
      return [...cells, { text: space + gap }];
    }),
  );
};
