import type { ActVerb } from '../../keys.js';
import type { Item, Page } from '../../page.js';
import { faceOf, facing } from '../../parts/faces.js';
import type { Row, Size } from '../../parts/row.js';
import { type Column, tableRows } from '../../parts/table.js';
import { since } from '../../parts/times.js';
import { chosenAt, fits } from '../../state/chosen.js';
import { type ListName, type ListState, rowsOf } from '../../state/lists.js';
import type { Root } from '../../state/places.js';
import type { State } from '../../state/state.js';
import { lookOf } from '../../state/ui.js';

/** One row of a plain list. */
export interface Line {
  id: string;
  name: string;
  state: string;
  /** ISO 8601; null: never. */
  at: string | null;
  more: string;
}

export interface Listed<T> {
  name: Root;
  title: string;
  noun: string;
  list: ListName;
  select(state: State): ListState<T>;
  line(row: T): Line;
  empty: readonly string[];
  everyMs: number;
  leaves?: (chosen: Line | null) => Partial<Record<ActVerb, readonly string[]>>;
}

/** A page that lists name, state and age of a resource, until it has one of its own. */
export const listedPage = <T>(of: Listed<T>): Page => {
  const lines = (state: State): Line[] => rowsOf(of.select(state)).map(of.line);
  const items = (state: State): Item[] => lines(state).map(itemOf);
  const shown = (state: State): Line[] => {
    const { filter } = lookOf(state.ui);
    return lines(state).filter((line) => filter === '' || fits(itemOf(line), filter));
  };
  const view = (state: State, size: Size): Row[] => {
    const all = shown(state);
    const words = { ...facing(state.session, size), noun: of.noun, empty: of.empty };
    const face = faceOf({ ...of.select(state), order: all.map(({ id }) => id) }, words);
    const at = chosenAt(all, lookOf(state.ui).selected);
    return face ?? tableRows(all, columns(state), size, { at });
  };
  return {
    name: of.name,
    root: of.name,
    title: of.title,
    tabs: [],
    items,
    leaves: (state) => {
      const all = shown(state);
      return of.leaves?.(all[chosenAt(all, lookOf(state.ui).selected)] ?? null) ?? {};
    },
    pages: of.list,
    summary: (state) => `${of.select(state).order.length} ${of.noun}`,
    needs: () => [{ is: 'list', list: of.list, everyMs: of.everyMs }],
    view,
  };
};

/** A page whose part of the daemon is not there yet: it says so, and where to go meanwhile. */
export const absentPage = (name: Root, title: string, lines: readonly string[]): Page => {
  const view = (): Row[] => lines.map((text) => [{ text }]);
  return { name, root: name, title, tabs: [], needs: () => [], view };
};

const itemOf = ({ id, name, state, more }: Line): Item => ({
  id,
  name,
  words: `${state} ${more}`,
  facts: { state, status: state },
});

const columns = ({ session }: State): Column<Line>[] => [
  { head: 'NAME', text: ({ name }) => name, least: 12, most: 50, rank: 0 },
  { head: 'STATE', text: ({ state }) => state, isState: true, least: 8, most: 18, rank: 1 },
  {
    head: 'AGE',
    text: ({ at }) => since(at, session.now),
    isNumber: true,
    least: 5,
    most: 6,
    rank: 2,
  },
  { head: 'MORE', text: ({ more }) => more, least: 10, most: 400, rank: 3 },
];
