import type { Item, ScreenPage } from '../page.js';
import { isFull } from './lists.js';
import type { ListName } from './rows.js';
import type { State } from './state.js';
import { topView } from './ui.js';

export const filteredItems = (page: ScreenPage, state: State): Item[] => {
  const all = page.items?.(state) ?? [];
  const { filter } = topView(state.ui);
  return filter === '' || page.isSearched?.(state)
    ? all
    : all.filter((item) => matchesFilter(item, filter));
};

/** The first row if the selected one is gone, -1 without rows. */
export const selectedIndex = (
  items: readonly { id: string }[],
  selected: string | null,
): number => {
  if (items.length === 0) return -1;
  return Math.max(
    0,
    items.findIndex(({ id }) => id === selected),
  );
};

export const selectedItem = (page: ScreenPage, state: State): Item | null => {
  const items = filteredItems(page, state);
  return items[selectedIndex(items, topView(state.ui).selected)] ?? null;
};

/**
 * Whether the item contains every word of the filter, and none of those after `!`. A word such as
 * `status:error` is compared with that fact only.
 */
export const matchesFilter = ({ name, words, facts = {} }: Item, filter: string): boolean =>
  filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '' && word !== '!')
    .every((word) => {
      const isNot = word.startsWith('!');
      const [key = '', value] = word.slice(isNot ? 1 : 0).split(/:(.*)/s);
      const fact = facts[key];
      const isFound =
        value !== undefined && fact !== undefined
          ? fact.toLowerCase().startsWith(value)
          : `${name} ${words}`.toLowerCase().includes(word.slice(isNot ? 1 : 0));
      return isFound !== isNot;
    });

/** List that continues below the known rows. `null` if there are no more rows. */
export const continuedList = (page: ScreenPage, state: State): ListName | null => {
  const name = page.pages?.(state) ?? null;
  if (name === null || state.lists[name].nextCursor === null) return null;
  return (page.items?.(state).length ?? 0) === 0 ? null : name;
};

/** Part of the summary about further rows. */
export const summarySuffix = (page: ScreenPage, state: State): string => {
  const name = continuedList(page, state);
  if (name === null) return '';
  const list = state.lists[name];
  if (isFull(list)) return `, limited to ${list.order.length.toLocaleString('en')}`;
  return ', more below';
};
