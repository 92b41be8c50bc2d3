import type { ComponentChildren } from 'preact';
import type { User } from '../../src/kernel/contract/login.js';
import type { PagePlace } from '../../src/kernel/pagepath.js';
import { pagePaths } from '../../src/kernel/pagepath.js';
import { ask } from '../state/api.js';
import { useTime } from '../state/clock.js';
import { liveState, nextConnectAt, reconnectNow, useTopics } from '../state/live.js';
import { useLoad } from '../state/load.js';
import { approvalCount, OverviewContext, unreadCount, useOverview } from '../state/overview.js';
import { useObservable } from '../state/store.js';
import { isWithin, MAIN_PLACES, OTHER_PLACES } from './navigation.js';

/** Topics that change the counts, and those that change the first view. */
const COUNTED = ['approval', 'notification'];
const ON_HOME = [
  ...COUNTED,
  'agent.status',
  'task.changed',
  'pipeline.stage',
  'recurring.run',
  'memory.saved',
];

interface LayoutProps {
  me: User;
  place: PagePlace | 'unknown';
  children: ComponentChildren;
}

/** Frame of all views: skip link, navigation with counts, connection. */
export const Layout = ({ me, place, children }: LayoutProps) => {
  const overview = useLoad({
    key: '',
    load: (signal) => ask('GET', '/api/overview', {}, signal),
    topics: place === 'home' ? ON_HOME : COUNTED,
  });
  const reloadUnseen = (): void => {
    // The title of a hidden tab shows the number of pending calls. Other data loads when the tab is
    // shown.
    if (document.hidden) void overview.reload();
  };
  useTopics(['approval'], reloadUnseen, () => undefined);
  return (
    <OverviewContext.Provider value={overview}>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="bar">
        <a class="brand" href="/">
          Adjutant
        </a>
        <Connection />
        <a class="who" href={pagePaths.device}>
          {me.username}
        </a>
      </header>
      <Navigation place={place} />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </OverviewContext.Provider>
  );
};

/**
 * At the bottom of a phone, with the main places and `More`; at the side of a wide screen, with all
 * places.
 */
const Navigation = ({ place }: { place: PagePlace | 'unknown' }) => {
  const overview = useOverview();
  const counts: Partial<Record<PagePlace, string>> = {
    approvals: approvalCount(overview),
    notifications: unreadCount(overview),
  };
  const isOther = place === 'more' || OTHER_PLACES.some((one) => isWithin(one, place));
  return (
    <nav aria-label="Main navigation">
      <ul>
        {[...MAIN_PLACES, ...OTHER_PLACES].map((one) => (
          <li key={one.name} class={OTHER_PLACES.includes(one) ? 'other' : undefined}>
            <a href={pagePaths[one.name]} aria-current={isWithin(one, place) ? 'page' : undefined}>
              {one.label}
              {counts[one.name] && (
                <>
                  {' '}
                  <span class="count">{counts[one.name]}</span>
                </>
              )}
            </a>
          </li>
        ))}
        <li class="more">
          <a href={pagePaths.more} aria-current={isOther ? 'page' : undefined}>
            More
          </a>
        </li>
      </ul>
    </nav>
  );
};

/** State of the connection, shown unless it is `online`. */
const Connection = () => {
  const state = useObservable(liveState);
  const next = useObservable(nextConnectAt);
  const now = useTime(1000);
  if (state === 'online' || state === 'off') return <span role="status" data-live={state} />;
  if (state === 'connecting') return <span role="status">connecting…</span>;
  const seconds = Math.max(0, Math.ceil(((next ?? now) - now) / 1000));
  return (
    <span class="offline">
      <span role="status" class="state danger">
        offline
      </span>
      <span aria-hidden="true"> retrying in {seconds} s </span>
      <button type="button" onClick={reconnectNow}>
        Retry now
      </button>
    </span>
  );
};
