import type { ScreenPage } from '../page.js';
import { emptyStateRows } from '../parts/emptystate.js';
import { justify, row, rowWidth, type ScreenRow, type Size, tonedSpan } from '../parts/row.js';
import { scrolledRows } from '../parts/text.js';
import type { PageName } from '../state/locations.js';
import type { ListName } from '../state/rows.js';
import type { State } from '../state/state.js';
import { topView } from '../state/ui.js';

/** Rows above the text: name, facts and an empty row. */
const ABOVE = 3;

/** Brackets mark the current tab, so that it is recognizable without colour. */
export const tabsRow = (tabs: readonly string[], tab: number): ScreenRow =>
  row(
    ...tabs.flatMap((name, at) => [
      at === tab ? tonedSpan('strong', `[${name}]`) : name,
      at < tabs.length - 1 ? ' ' : '',
    ]),
  );

/** Visible rows of a text: the last ones while its end is followed. */
const visible = (
  state: State,
  rows: readonly ScreenRow[],
  size: Size,
  isTail: boolean,
): ScreenRow[] => {
  const { scroll, isFollowing } = topView(state.ui);
  return scrolledRows(rows, isTail && isFollowing ? rows.length : scroll, size);
};

interface DetailDefinition<T> {
  name: PageName;
  title: string;
  noun: string;
  tabs: readonly string[];
  /** List with the object. It also gives the reason why the object is missing. */
  list: ListName;
  shown(state: State): T | null;
  /** Name and state within that width, then the facts. */
  head(state: State, thing: T, width: number): ScreenRow[];
  /** Text of the tabs without a table. */
  text(state: State, thing: T, width: number): ScreenRow[];
  /** Tables by tab index. */
  tables?: Readonly<Record<number, Required<Pick<ScreenPage, 'items' | 'cells' | 'view'>>>>;
  isTail?: true;
}

export const detailPage = <T>(of: DetailDefinition<T>): Omit<ScreenPage, 'needs'> => {
  const { name, title, tabs, noun, isTail } = of;
  const table = ({ ui }: State) => of.tables?.[topView(ui).tab];
  const text = (state: State, width: number): ScreenRow[] | null => {
    const thing = of.shown(state);
    return thing === null || table(state) ? null : of.text(state, thing, width);
  };
  return {
    name,
    title,
    tabs,
    ...(of.tables && {
      items: (state) => table(state)?.items(state) ?? [],
      cells: (state) => table(state)?.cells(state) ?? [],
    }),
    text,
    textHeight: (_, { height }) => height - ABOVE,
    ...(isTail && { isTail }),
    head: (state) => {
      const thing = of.shown(state);
      return thing === null ? [] : of.head(state, thing, Number.MAX_SAFE_INTEGER);
    },
    view: (state, size) => {
      const thing = of.shown(state);
      if (thing === null) {
        const empty = [`This ${noun} no longer exists.`, '  esc  back'];
        return emptyStateRows(state.lists[of.list], { noun: `${noun}s`, empty }, state, size);
      }
      const tab = tabsRow(tabs, topView(state.ui).tab);
      const [first = [], facts = []] = of.head(state, thing, size.width - rowWidth(tab) - 1);
      const body = { ...size, height: size.height - ABOVE };
      const rows =
        table(state)?.view(state, body) ??
        visible(state, text(state, size.width) ?? [], body, isTail === true);
      return [justify(first, tab, size.width), facts, [], ...rows];
    },
  };
};

interface TextDefinition {
  name: PageName;
  title: string;
  noun: string;
  list: ListName;
  /** `null` if there is nothing to show. */
  text(state: State, width: number): ScreenRow[] | null;
  empty(state: State): readonly string[];
  isTail?: true;
}

export const textPage = (of: TextDefinition): Omit<ScreenPage, 'needs'> => {
  const { name, title, text, isTail } = of;
  return {
    name,
    title,
    tabs: [],
    text,
    ...(isTail && { isTail }),
    view: (state, size) => {
      const rows = text(state, size.width);
      if (rows && rows.length > 0) return visible(state, rows, size, isTail === true);
      const words = { noun: of.noun, empty: of.empty(state) };
      return emptyStateRows(state.lists[of.list], words, state, size);
    },
  };
};
