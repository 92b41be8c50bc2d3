import type { PageNeed } from '../page.js';
import type { Feed } from './feed.js';

/** Loads, or subscribes to, what a page needs. The returned function ends that. */
export const want = (feed: Feed, need: PageNeed): (() => void) => {
  if (need.is === 'channel') return feed.channels([need.channel]);
  if (need.is === 'agent') return feed.follow(need.id);
  if (need.is === 'overview') return feed.overview(need.everyMs);
  const { list, of = null, everyMs = null, afterMs = 0 } = need;
  let stop = (): void => {};
  const read = (): void => {
    stop = feed.list(list, of, everyMs);
  };
  const timer = setTimeout(read, afterMs);
  return () => {
    clearTimeout(timer);
    stop();
  };
};
