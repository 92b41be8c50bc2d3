import type { Clock } from '../../src/kernel/clock.js';
import type { PageNeed } from '../page.js';
import type { Feed } from './feed.js';

export interface NeedDeps {
  feed: Feed;
  clock: Clock;
}

/** Loads or subscribes to the data of a need. Returns a function that ends it. */
const want = ({ feed, clock }: NeedDeps, need: PageNeed): (() => void) => {
  if (need.is === 'channel') return feed.channels([need.channel]);
  if (need.is === 'agent') return feed.follow(need.id);
  if (need.is === 'overview') return feed.overview(need.everyMs);
  const { list, of = null, everyMs = null, afterMs = 0 } = need;
  let stop = (): void => {};
  const read = (): void => {
    stop = feed.list(list, of, everyMs);
  };
  const cancel = clock.after(afterMs, read);
  return () => {
    cancel();
    stop();
  };
};

/**
 * Takes all needs of a desk, starts new ones and ends those that are gone. Returns true if there
 * were new ones.
 */
export const createNeedHolder = (deps: NeedDeps): ((needs: readonly PageNeed[]) => boolean) => {
  const held = new Map<string, () => void>();
  return (needs) => {
    const wanted = new Map(needs.map((need) => [JSON.stringify(need), need]));
    for (const [key, end] of held) {
      if (wanted.has(key)) continue;
      end();
      held.delete(key);
    }
    const fresh = [...wanted].filter(([key]) => !held.has(key));
    for (const [key, need] of fresh) held.set(key, want(deps, need));
    return fresh.length > 0;
  };
};
