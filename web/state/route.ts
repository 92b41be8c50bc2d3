import { type PagePlace, pageLink, pagePaths } from '../../src/kernel/pagepath.js';
import { createObservable } from './store.js';

/** The place that the address names. `id` is empty where its path has none. */
export interface Place {
  name: PagePlace | 'unknown';
  id: string;
  query: URLSearchParams;
}

const patterns = Object.entries(pagePaths).map(([name, path]) => ({
  name,
  pattern: new RegExp(`^${path.replace('{id}', '([^/]+)')}$`),
}));

const isPageName = (name: string): name is PagePlace => Object.hasOwn(pagePaths, name);

/** Returns the place of an address of this page. */
export const placeOf = ({ pathname, search }: { pathname: string; search: string }): Place => {
  const path = pathname.length > 1 ? pathname.replace(/\/$/, '') : pathname;
  const query = new URLSearchParams(search);
  for (const { name, pattern } of patterns) {
    const found = pattern.exec(path);
    if (found && isPageName(name)) return { name, id: decode(found[1] ?? ''), query };
  }
  return { name: 'unknown', id: '', query };
};

const decode = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

export const route = createObservable<Place>(placeOf(location));

/** Goes to a path of the page. `replace` leaves no entry in the history. */
export const go = (path: string, how: 'push' | 'replace' = 'push'): void => {
  if (how === 'push') history.replaceState({ scrollY }, '');
  history[`${how}State`](null, '', path);
  route.set(placeOf(location));
  scrollTo(0, 0);
};

/** Goes to a place by its name. */
export const goToPlace = (name: PagePlace, id?: string): void => go(pageLink(name, id));

/** The place where the page was scrolled to when it was left, for a return to it. */
addEventListener('popstate', ({ state }) => {
  route.set(placeOf(location));
  const scrolled = Number(state?.scrollY ?? 0);
  if (scrolled > 0) setTimeout(() => scrollTo(0, scrolled), SCROLL_AFTER_MS);
});

/** A list that is shown again loads first. */
const SCROLL_AFTER_MS = 300;

/**
 * Follows links within the page without loading it anew. Others, and clicks that ask for another
 * tab, are left to the browser.
 */
export const followLinks = (event: MouseEvent): void => {
  const { target, defaultPrevented, button, metaKey, ctrlKey, shiftKey, altKey } = event;
  if (defaultPrevented || button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return;
  const link = target instanceof Element ? target.closest('a') : null;
  if (link?.target !== '' || link.origin !== location.origin) return;
  if (placeOf(link).name === 'unknown') return;
  event.preventDefault();
  go(link.pathname + link.search);
};
