import { type PagePlace, pageLink, pagePaths } from '../../src/kernel/pagepath.js';
import { after } from './clock.js';
import { createObservable } from './store.js';

/** `id` is empty if the path has none. */
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

export const parseRoute = ({ pathname, search }: { pathname: string; search: string }): Place => {
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

export const route = createObservable<Place>(parseRoute(location));

/** `replace` adds no entry to the history. */
export const go = (path: string, how: 'push' | 'replace' = 'push'): void => {
  if (how === 'push') history.replaceState({ scrollY }, '');
  history[`${how}State`](null, '', path);
  route.set(parseRoute(location));
  scrollTo(0, 0);
};

export const goToPlace = (name: PagePlace, id?: string): void => go(pageLink(name, id));

/** Scroll position when the page was left, restored on return. */
addEventListener('popstate', ({ state }) => {
  route.set(parseRoute(location));
  const scrolled = Number(state?.scrollY ?? 0);
  if (scrolled > 0) after(SCROLL_AFTER_MS, () => scrollTo(0, scrolled));
});

/** A list must load before its scroll position is restored, in milliseconds. */
const SCROLL_AFTER_MS = 300;

/**
 * Follows links within the page without a reload. Other links, and clicks for another tab, are left
 * to the browser.
 */
export const followLinks = (event: MouseEvent): void => {
  const { target, defaultPrevented, button, metaKey, ctrlKey, shiftKey, altKey } = event;
  if (defaultPrevented || button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return;
  const link = target instanceof Element ? target.closest('a') : null;
  if (link?.target !== '' || link.origin !== location.origin) return;
  if (parseRoute(link).name === 'unknown') return;
  event.preventDefault();
  go(link.pathname + link.search);
};
