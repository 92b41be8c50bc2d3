import type { ActVerb } from '../keys.js';
import type { Acts, Commands, Item, PageNeed, ScreenPage, View } from '../page.js';
import { emptyStateRows } from '../parts/emptystate.js';
import { computePanes, isBeside, joinPanes } from '../parts/panes.js';
import { row, type ScreenRow, type Size, type Span } from '../parts/row.js';
import { buildCells, type Cells, type ScreenColumn, tableRows } from '../parts/table.js';
import { countedNoun, scrolledRows } from '../parts/text.js';
import type { Act } from '../state/act.js';
import { computeBodySize } from '../state/layout.js';
import type { JumpTarget, PageName, ScreenPlace } from '../state/locations.js';
import type { ListName } from '../state/rows.js';
import { matchesFilter, selectedIndex } from '../state/selection.js';
import type { State, StateAction } from '../state/state.js';
import { topView } from '../state/ui.js';

interface RowsDefinition<T> {
  rows(state: State): T[];
  item(row: T): Item;
  columns(state: State): ScreenColumn<T>[];
  /** Whether the daemon applied the filter, so that all rows are shown. */
  isSearched?: true;
}

interface Rows<T> {
  shown(state: State): T[];
  at(state: State): number;
  chosen(state: State): T | null;
  items(state: State): Item[];
  cells(state: State): Cells[];
}

/** Caches the result for the last state: a state never changes and is read many times. */
const remembered = <T>(of: (state: State) => T): ((state: State) => T) => {
  let last: { state: State; value: T } | null = null;
  return (state) => {
    if (last?.state !== state) last = { state, value: of(state) };
    return last.value;
  };
};

export const rowsFor = <T>({ rows, item, columns, isSearched }: RowsDefinition<T>): Rows<T> => {
  const shown = remembered((state) => {
    const { filter } = topView(state.ui);
    return filter === '' || isSearched
      ? rows(state)
      : rows(state).filter((row) => matchesFilter(item(row), filter));
  });
  const at = remembered((state) =>
    selectedIndex(shown(state).map(item), topView(state.ui).selected),
  );
  return {
    shown,
    at,
    chosen: (state) => shown(state)[at(state)] ?? null,
    items: (state) => rows(state).map(item),
    cells: (state) => buildCells(shown(state), columns(state), (row) => item(row).id),
  };
};

interface TableDefinition<T> extends RowsDefinition<T> {
  /** Singular, `user`. `nouns` is the plural if it does not end in `s`. */
  noun: string;
  nouns?: string;
  /** List behind the rows. It also gives the reason why there are none. */
  list: ListName;
  /** Rows shown for an empty list: a sentence, then what to do. */
  empty: readonly string[] | ((state: State) => readonly string[]);
}

export const tableFor = <T>(given: TableDefinition<T>): Rows<T> & { view: View } => {
  const of = { ...given, rows: remembered(given.rows) };
  const rows = rowsFor(of);
  const view = (state: State, size: Size): ScreenRow[] =>
    placeholder(of, state, size) ??
    tableRows(rows.shown(state), of.columns(state), size, { at: rows.at(state) });
  return { ...rows, view };
};

/** Rows in place of an empty table. `null` if it has rows. */
const placeholder = <T>(
  { rows, item, list, noun, nouns = `${noun}s`, empty, isSearched }: TableDefinition<T>,
  state: State,
  size: Size,
): ScreenRow[] | null => {
  const { filter } = topView(state.ui);
  const all = rows(state);
  const isFiltered = filter !== '' && all.length > 0;
  const none = typeof empty === 'function' ? empty(state) : empty;
  const words = isFiltered ? [`No ${nouns} match /${filter}.`, '  esc  clear the filter'] : none;
  if (all.some((row) => filter === '' || isSearched || matchesFilter(item(row), filter)))
    return null;
  return emptyStateRows(state.lists[list], { noun: nouns, empty: words }, state, size);
};

/** Actions or commands of a row. Impossible ones may be null or false. */
type Offers<T> = Partial<Record<ActVerb, T | null | false>>;

export const possibleActs = <T>(all: Offers<T>): Partial<Record<ActVerb, T>> =>
  Object.fromEntries(
    Object.entries(all).flatMap(([verb, each]) => (each ? [[verb, each] as const] : [])),
  );

/** List with details of the selected row below or beside it. All actions apply to that row. */
interface ListDefinition<T> extends TableDefinition<T> {
  name: PageName;
  title: string;
  detail?(state: State, row: T, width: number): ScreenRow[];
  /** Row below the details, given the number of hidden rows. */
  end?(row: T, hidden: number): Span;
  /** View beside the list, in place of details. */
  aside?(state: State, row: T, size: Size): ScreenRow[];
  /** Whether the list has more than half of the width beside the details. */
  isWide?(state: State): boolean;
  /** Minimum columns of a wide list beside the details. */
  leastWidth?: number;
  /** Whether the details are shown only beside the list. */
  isBesideOnly?: true;
  everyMs?: number;
  needs?(state: State, row: T | null): PageNeed[];
  pages?(state: State): ListName | null;
  summary?(state: State, rows: T[]): string;
  glossary?: ScreenPage['glossary'];
  acts?(row: T, state: State): Offers<Act>;
  verbs?(row: T, state: State): Act[];
  leaves?(row: T | null, state: State): Offers<readonly string[]>;
  opens?(row: T, state: State): ScreenPlace | JumpTarget | null;
  related?(row: T): ScreenPlace | JumpTarget | null;
  noticed?(row: T, state: State): StateAction | null;
}

export const listPage = <T>(given: ListDefinition<T>): ScreenPage => {
  const of = { ...given, rows: remembered(given.rows) };
  const rows = rowsFor(of);
  const { name, title, list, glossary, everyMs } = of;
  const { acts, verbs, opens, related, noticed } = of;
  /** Applies a function to the selected row. `none` if there is no row. */
  const ofChosen =
    <R>(make: (row: T, state: State) => R, none: R) =>
    (state: State): R => {
      const chosen = rows.chosen(state);
      return chosen === null ? none : make(chosen, state);
    };
  return {
    name,
    title,
    tabs: [],
    items: rows.items,
    cells: rows.cells,
    pages: of.pages ?? (() => list),
    summary: (state) =>
      of.summary?.(state, of.rows(state)) ?? countedNoun(of.rows(state).length, of.noun, of.nouns),
    needs: (state) =>
      of.needs?.(state, rows.chosen(state)) ?? [{ is: 'list', list, ...(everyMs && { everyMs }) }],
    leaves: (state): Commands => possibleActs(of.leaves?.(rows.chosen(state), state) ?? {}),
    acts: ofChosen((row, state): Acts => possibleActs(acts?.(row, state) ?? {}), {}),
    ...(of.isSearched && { isSearched: () => true }),
    ...(glossary && { glossary }),
    ...(verbs && { verbs: ofChosen(verbs, []) }),
    ...(opens && { opens: ofChosen(opens, null) }),
    ...(related && { related: ofChosen(related, null) }),
    ...(noticed && { noticed: ofChosen(noticed, null) }),
    ...createListView(of, rows),
  };
};

const createListView = <T>(
  of: ListDefinition<T>,
  rows: Rows<T>,
): Pick<ScreenPage, 'view' | 'text' | 'textHeight'> => {
  const { detail, aside, end } = of;
  const panesFor = (state: State, size: Size) =>
    (detail || aside) && (!of.isBesideOnly || isBeside(size))
      ? computePanes(size, topView(state.ui), {
          rows: rows.shown(state).length + 1,
          isWide: of.isWide?.(state),
          least: of.leastWidth,
        })
      : { list: size, detail: null, isBeside: false };
  const about = (state: State, chosen: T, size: Size): ScreenRow[] => {
    if (!detail) return aside?.(state, chosen, size) ?? [];
    const whole = detail(state, chosen, size.width);
    const { scroll } = topView(state.ui);
    if (!end) return scrolledRows(whole, scroll, size);
    const height = size.height - 1;
    const hidden = whole.length - scroll - height;
    return [...scrolledRows(whole, scroll, { ...size, height }), row(end(chosen, hidden))];
  };
  const view = (state: State, size: Size): ScreenRow[] => {
    const face = placeholder(of, state, size);
    const chosen = rows.chosen(state);
    if (face || chosen === null) return face ?? [];
    const panes = panesFor(state, size);
    const isQuiet = panes.detail !== null && topView(state.ui).pane === 1;
    const at = rows.at(state);
    const list = tableRows(rows.shown(state), of.columns(state), panes.list, { at, isQuiet });
    if (!panes.detail) return list;
    const detail = about(state, chosen, panes.detail);
    return joinPanes(panes, { above: list, detail, isInDetail: isQuiet });
  };
  if (!detail) return { view };
  return {
    view,
    text: (state, width) => {
      const chosen = rows.chosen(state);
      const size = panesFor(state, { width, height: computeBodySize(state).height }).detail;
      return chosen === null || !size ? null : detail(state, chosen, size.width);
    },
    textHeight: (state, size) =>
      Math.max(0, (panesFor(state, size).detail ?? size).height - (end ? 1 : 0)),
  };
};
