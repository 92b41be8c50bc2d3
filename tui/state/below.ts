import type { ScreenPage } from '../page.js';
import { isFull, type ListName } from './lists.js';
import type { State } from './state.js';

/**
 * Returns the list of a page that continues below the known rows; null if there are no more rows.
 */
export const listBelow = (page: ScreenPage, state: State): ListName | null => {
  const name = page.pages?.(state) ?? null;
  if (name === null || state.lists[name].nextCursor === null) return null;
  return (page.items?.(state).length ?? 0) === 0 ? null : name;
};

/** Returns what is added to the summary of a page about the rows below. */
export const belowSaid = (page: ScreenPage, state: State): string => {
  const name = listBelow(page, state);
  if (name === null) return '';
  const list = state.lists[name];
  if (isFull(list)) return `, and no more than ${list.order.length.toLocaleString('en')} are kept`;
  return ', more below';
};
