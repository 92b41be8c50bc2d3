import type { Item, ScreenPage } from '../page.js';
import type { State } from './state.js';
import { lookOf } from './ui.js';

/** Returns the rows of a page that the filter leaves, in their order. */
export const itemsOf = (page: ScreenPage, state: State): Item[] => {
  const all = page.items?.(state) ?? [];
  const { filter } = lookOf(state.ui);
  return filter === '' ? all : all.filter((item) => fits(item, filter));
};

/**
 * Returns the index of the selected row; the first if the selected one is gone, -1 if there are no
 * rows.
 */
export const chosenAt = (items: readonly { id: string }[], selected: string | null): number => {
  if (items.length === 0) return -1;
  return Math.max(
    0,
    items.findIndex(({ id }) => id === selected),
  );
};

/** Returns the selected row of the page on top. */
export const chosenOf = (page: ScreenPage, state: State): Item | null => {
  const items = itemsOf(page, state);
  return items[chosenAt(items, lookOf(state.ui).selected)] ?? null;
};

/**
 * True if the item contains every word of the filter, and none of those after `!`. A word such as
 * `status:error` is compared with that fact only.
 */
export const fits = ({ name, words, facts = {} }: Item, filter: string): boolean =>
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
