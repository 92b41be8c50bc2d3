import type { Item, ScreenPage } from '../page.js';
import { faceOf, facing } from '../parts/faces.js';
import { joinPanes, panesOf } from '../parts/panes.js';
import type { ScreenRow, Size } from '../parts/row.js';
import { cellsOf, type ScreenColumn, tableRows } from '../parts/table.js';
import { scrolled } from '../parts/text.js';
import { counted } from '../parts/words.js';
import { bodyOf } from '../state/layout.js';
import { type ListName, type ListState, rowsOf } from '../state/lists.js';
import type { PageName, Root } from '../state/places.js';
import { chosenAt, fits } from '../state/selection.js';
import type { State } from '../state/state.js';
import { lookOf } from '../state/ui.js';

/** A list with the details of its selection below or beside it. */
export interface ListDefinition<T> {
  name: PageName;
  root: Root;
  title: string;
  /** The singular, `user`; `nouns` is the plural, if it is not the singular with an `s`. */
  noun: string;
  nouns?: string;
  list: ListName;
  select(state: State): ListState<T>;
  /**
   * Returns the rows in the order in which they are shown; by default, the order in which they
   * came.
   */
  sorted?(rows: T[], state: State): T[];
  item(row: T): Item;
  columns(state: State): ScreenColumn<T>[];
  /** Returns the rows with the details of the selected one. */
  detail?(state: State, row: T, width: number): ScreenRow[];
  empty: readonly string[];
  /** Interval in milliseconds at which the list is loaded again; never if absent. */
  everyMs?: number;
  summary?(state: State, rows: T[]): string;
}

/** The common part of a page with a list; each screen adds its own. */
export interface ListPage<T> {
  page: Omit<ScreenPage, 'items'> & { items(state: State): Item[] };
  /** The chosen row. */
  chosen(state: State): T | null;
}

export const listingScreen = <T>(of: ListDefinition<T>): ListPage<T> => {
  const rows = (state: State): T[] => {
    const all = rowsOf(of.select(state));
    return of.sorted ? of.sorted(all, state) : all;
  };
  const shown = (state: State): T[] => {
    const { filter } = lookOf(state.ui);
    return rows(state).filter((row) => filter === '' || fits(of.item(row), filter));
  };
  const indexIn = (state: State, all: T[]): number =>
    chosenAt(all.map(of.item), lookOf(state.ui).selected);
  const chosen = (state: State): T | null => shown(state)[indexIn(state, shown(state))] ?? null;
  return { page: pageFor(of, { rows, shown, indexIn }), chosen };
};

interface Rows<T> {
  rows(state: State): T[];
  shown(state: State): T[];
  indexIn(state: State, all: T[]): number;
}

const pageFor = <T>(
  of: ListDefinition<T>,
  { rows, shown, indexIn }: Rows<T>,
): ListPage<T>['page'] => {
  const view = (state: State, size: Size): ScreenRow[] => {
    const all = shown(state);
    const order = all.map((row) => of.item(row).id);
    const noun = of.nouns ?? `${of.noun}s`;
    const { filter } = lookOf(state.ui);
    const isFiltered = filter !== '' && rows(state).length > 0;
    const empty = isFiltered
      ? [`No ${noun} match /${filter}.`, '  esc  drop the filter']
      : of.empty;
    const words = { ...facing(state.session, size), noun, empty };
    const face = faceOf({ ...of.select(state), order }, words);
    if (face) return face;
    const at = indexIn(state, all);
    const row = all[at];
    if (!of.detail || row === undefined) return tableRows(all, of.columns(state), size, { at });
    const panes = panesOf(size, lookOf(state.ui), all.length + 1);
    const list = tableRows(all, of.columns(state), panes.list, {
      at,
      isQuiet: lookOf(state.ui).pane === 1,
    });
    if (!panes.detail) return list;
    const about = of.detail(state, row, panes.detail.width);
    return joinPanes(panes, list, scrolled(about, lookOf(state.ui).scroll, panes.detail));
  };
  const detailSize = (state: State, size: Size): Size | null =>
    of.detail ? panesOf(size, lookOf(state.ui), shown(state).length + 1).detail : null;
  return {
    name: of.name,
    root: of.root,
    title: of.title,
    tabs: [],
    items: (state) => rows(state).map(of.item),
    text: (state, width) => {
      const all = shown(state);
      const row = all[indexIn(state, all)];
      const size = detailSize(state, { width, height: bodyOf(state).height });
      return row === undefined || !size ? null : (of.detail?.(state, row, size.width) ?? null);
    },
    textHeight: (state, size) => detailSize(state, size)?.height ?? size.height,
    pages: () => of.list,
    summary: (state) =>
      of.summary?.(state, rows(state)) ?? counted(rows(state).length, of.noun, of.nouns),
    needs: () => [{ is: 'list', list: of.list, ...(of.everyMs && { everyMs: of.everyMs }) }],
    view,
    cells: (state) => cellsOf(shown(state), of.columns(state), (row) => of.item(row).id),
  };
};
