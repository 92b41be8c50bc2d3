import type { Cancel, Clock } from '../../src/kernel/clock.js';
import { screenPage } from '../screens.js';
import type { DeskState } from '../state/deskstate.js';
import type { State } from '../state/state.js';
import { waitForState } from '../state/store.js';
import { topView } from '../state/ui.js';
import type { Announcement } from './announcement.js';
import { createLinearListener, type LinearNews } from './listener.js';
import type { LinearOutput } from './output.js';
import { textLines } from './words.js';

export interface AnnouncerDeps {
  known: DeskState;
  announcement: Announcement;
  output: LinearOutput;
  fail(error: unknown): void;
}

/**
 * Minimum time between news, in milliseconds, because a voice reads it. Non-urgent news takes at
 * most `MAX_LINES` lines. While paused, at most `MAX_HELD` items are kept.
 */
const PACE_MS = 500;
/** Maximum time that news waits for agent names. */
const MAX_READ_MS = 5000;
const MAX_LINES = 10;
const MAX_HELD = 500;

export type Announcer = ReturnType<typeof openAnnouncer>;

export const openAnnouncer = ({ known, announcement, output, fail }: AnnouncerDeps) => {
  const { store, clock } = known;
  const listener = createLinearListener(announcement);
  const followed = createFollower(store.get);
  const askers = createNaming(known);
  const wish = { isHeld: true, isAll: true, isPaused: false, isOver: false };
  let held: LinearNews[] = [];

  const isWaiting = ({ weight }: LinearNews): boolean =>
    wish.isPaused && (weight === 'heard' || weight === 'followed');
  const flush = async (): Promise<void> => {
    // The dispatch applies everything that is queued. An agent named in it may have to be loaded
    // first.
    do store.dispatch({ type: 'session.ticked', now: clock.now() });
    while (await askers.named());
    if (wish.isHeld || wish.isOver) return;
    const news = [...held, ...listener.hear(store.get()), ...followed.fresh()].filter(
      ({ weight }) => wish.isAll || weight !== 'heard',
    );
    held = news.filter(isWaiting).slice(-MAX_HELD);
    tell(
      output,
      news.filter((each) => !isWaiting(each)),
    );
  };
  // One at a time: a second flush would announce agents before their names are loaded.
  const { plan, stop } = paced(clock, flush, fail);
  // The clock is not observed, because `flush` sets it.
  const stops = [
    store.subscribe(({ lists }) => lists, plan),
    store.subscribe(({ overview }) => overview, plan),
    store.subscribe(({ streams }) => streams, plan),
    store.subscribe(({ session }) => session.link, plan),
  ];

  return {
    /** Starts announcing. Data that is known by now is not announced. */
    begin: (): void => {
      listener.hear(store.get());
      wish.isHeld = false;
    },
    /** Holds announcements while a question is open. */
    hold: (isHeld: boolean): void => {
      wish.isHeld = isHeld;
      plan();
    },
    /** Whether to announce all events, or only those that need the user. */
    tellAll: (isAll: boolean): void => {
      wish.isAll = isAll;
      wish.isPaused = false;
    },
    /** Pauses or resumes non-urgent news. Returns true if paused. */
    pause: (): boolean => {
      wish.isPaused = !wish.isPaused;
      plan();
      return wish.isPaused;
    },
    /**
     * Toggles following the page on top. Returns the new state, or `null` if the page has no
     * stream.
     */
    follow: (): boolean | null => {
      wish.isPaused = false;
      return followed.toggle();
    },
    close: (): void => {
      wish.isOver = true;
      for (const end of stops) end();
      stop();
    },
  };
};

/** Runs `work` soon, one run at a time, and once more if requested meanwhile. */
const paced = (clock: Clock, work: () => Promise<void>, fail: (error: unknown) => void) => {
  let cancel: Cancel | undefined;
  let isWanted = false;
  let isOver = false;
  const begin = async (): Promise<void> => {
    isWanted = false;
    await work();
    cancel = undefined;
    if (isWanted) plan();
  };
  const plan = (): void => {
    isWanted = true;
    if (!isOver) cancel ??= clock.after(PACE_MS, () => void begin().catch(fail));
  };
  const stop = (): void => {
    isOver = true;
    cancel?.();
  };
  return { plan, stop };
};

/** Announces urgent news first, then ten lines of the rest and the number of further ones. */
const tell = (output: LinearOutput, news: readonly LinearNews[]): void => {
  const isLoud = ({ weight }: LinearNews): boolean => weight === 'rings' || weight === 'always';
  const rest = news.filter((each) => !isLoud(each));
  const more = rest.length - MAX_LINES;
  const texts = [...news.filter(isLoud), ...rest.slice(0, MAX_LINES)].map(({ text }) => text);
  output.between(more > 0 ? [...texts, `And ${more} more at the same time.`] : texts);
  if (news.some(({ weight }) => weight === 'rings')) output.bell();
};

/**
 * Loads agents that ask for an approval and are not known yet, each at most once, so that
 * announcements can name them.
 */
const createNaming = ({ store, feed, clock }: DeskState) => {
  const sought = new Set<string>();
  return {
    named: async (): Promise<boolean> => {
      const { approvals, agents } = store.get().lists;
      const asking = Object.values(approvals.byId)
        .filter(({ status }) => status === 'pending')
        .flatMap(({ agentId }) => agentId ?? []);
      const unknown = asking.filter((id) => !(id in agents.byId) && !sought.has(id));
      for (const id of unknown) sought.add(id);
      if (unknown.length === 0) return false;
      await feed.reload('agents');
      // A later request replaces this one, and its reply is dropped.
      const isRead = ({ lists }: State): boolean =>
        lists.agents.askedAt === null || unknown.every((id) => id in lists.agents.byId);
      await waitForState(store, isRead, { mostMs: MAX_READ_MS, clock });
      return true;
    },
  };
};

/**
 * Returns the entries that arrived on a page since the last call. Leaving the page ends the
 * following.
 */
const createFollower = (get: () => State) => {
  let followed: { place: string; last: number } | null = null;
  const placeOf = ({ ui }: State): string => `${topView(ui).page} ${topView(ui).id}`;
  const pieces = () => screenPage(get()).stream?.(get()) ?? [];
  return {
    toggle: (): boolean | null => {
      if (!screenPage(get()).stream) return null;
      const place = placeOf(get());
      const last = pieces().at(-1)?.number ?? 0;
      followed = followed?.place === place ? null : { place, last };
      return followed !== null;
    },
    fresh: (): LinearNews[] => {
      if (followed?.place !== placeOf(get())) followed = null;
      if (!followed) return [];
      const { last } = followed;
      const rows = pieces().filter(({ number }) => number > last);
      followed.last = rows.at(-1)?.number ?? last;
      return textLines(rows.map(({ row }) => row)).map((text) => ({ text, weight: 'followed' }));
    },
  };
};
