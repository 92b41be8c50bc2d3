import type { ScreenPage } from '../page.js';
import { isFull, type ListName } from './lists.js';
import type { State } from './state.js';

/** The list of a page that goes on below the rows that are known; null: this is all there is. */
export const listBelow = (page: ScreenPage, state: State): ListName | null => {
  const name = page.pages?.(state) ?? null;
  if (name === null || state.lists[name].nextCursor === null) return null;
  return (page.items?.(state).length ?? 0) === 0 ? null : name;
};

/** What is told of it behind the page's own words. */
export const belowSaid = (page: ScreenPage, state: State): string => {
  const name = listBelow(page, state);
  if (name === null) return '';
  const list = state.lists[name];
  if (isFull(list)) return `, and no more than ${list.order.length.toLocaleString('en')} are kept`;
  return ', more below';
};
