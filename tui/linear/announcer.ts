import { screenPage } from '../screens.js';
import type { DeskState } from '../state/deskstate.js';
import type { State } from '../state/state.js';
import { reached } from '../state/store.js';
import { topView } from '../state/ui.js';
import type { Announcement } from './announcement.js';
import { createLinearListener, type LinearNews } from './listener.js';
import type { LinearOutput } from './output.js';
import { textLines } from './words.js';

export interface AnnouncerDeps {
  known: DeskState;
  announcement: Announcement;
  output: LinearOutput;
  /** Ends the desk with an unexpected error. */
  fail(error: unknown): void;
}

/**
 * Ours: news is announced at most twice a second, because a voice reads it, and news that is not
 * urgent in at most `MAX_LINES` lines. While it is paused, at most `MAX_HELD` pieces of news are
 * kept.
 */
const PACE_MS = 500;
/** The longest time that news waits for the names of agents. */
const MAX_READ_MS = 5000;
const MAX_LINES = 10;
const MAX_HELD = 500;

/** The announcements of what happens, made between the inputs of the user. */
export type Announcer = ReturnType<typeof openAnnouncer>;

export const openAnnouncer = ({ known, announcement, output, fail }: AnnouncerDeps) => {
  const { store, now } = known;
  const listener = createLinearListener(announcement);
  const followed = createFollower(store.get);
  const askers = createNaming(known);
  const wish = { isHeld: true, isAll: true, isPaused: false, isOver: false };
  let held: LinearNews[] = [];

  const isWaiting = ({ weight }: LinearNews): boolean =>
    wish.isPaused && (weight === 'heard' || weight === 'followed');
  const flush = async (): Promise<void> => {
    // The dispatch applies everything that is queued. An agent that asks in it may have to be
    // loaded; what arrives with that is applied in the same way.
    do store.dispatch({ type: 'session.ticked', now: now() });
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
  // One at a time: another would announce agents before they are named.
  const { plan, stop } = paced(flush, fail);
  // The clock is not observed: `flush` itself sets it.
  const stops = [
    store.subscribe(({ lists }) => lists, plan),
    store.subscribe(({ overview }) => overview, plan),
    store.subscribe(({ streams }) => streams, plan),
    store.subscribe(({ session }) => session.link, plan),
  ];

  return {
    /** Begins the announcements. Whatever is known by now is not announced. */
    begin: (): void => {
      listener.hear(store.get());
      wish.isHeld = false;
    },
    /** Holds all announcements while a question is open. */
    hold: (isHeld: boolean): void => {
      wish.isHeld = isHeld;
      plan();
    },
    /** Announces everything that happens, or only what needs the user. */
    tellAll: (isAll: boolean): void => {
      wish.isAll = isAll;
      wish.isPaused = false;
    },
    /** Pauses or resumes the news that needs no reaction. Returns true if it is paused now. */
    pause: (): boolean => {
      wish.isPaused = !wish.isPaused;
      plan();
      return wish.isPaused;
    },
    /**
     * Begins or ends following the page on top. Returns true if the page is followed now; null if
     * nothing arrives on that page.
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

/**
 * Returns a function that has the work done soon. It is done one at a time, and once more if it was
 * asked for meanwhile.
 */
const paced = (work: () => Promise<void>, fail: (error: unknown) => void) => {
  let timer: NodeJS.Timeout | undefined;
  let isWanted = false;
  let isOver = false;
  const begin = async (): Promise<void> => {
    isWanted = false;
    await work();
    timer = undefined;
    if (isWanted) plan();
  };
  const plan = (): void => {
    isWanted = true;
    if (!isOver) timer ??= setTimeout(() => void begin().catch(fail), PACE_MS);
  };
  const stop = (): void => {
    isOver = true;
    clearTimeout(timer);
  };
  return { plan, stop };
};

/**
 * Announces first the news that the user must hear. Of the rest it announces the first ten lines,
 * then only how many more there are.
 */
const tell = (output: LinearOutput, news: readonly LinearNews[]): void => {
  const isLoud = ({ weight }: LinearNews): boolean => weight === 'rings' || weight === 'always';
  const rest = news.filter((each) => !isLoud(each));
  const more = rest.length - MAX_LINES;
  const texts = [...news.filter(isLoud), ...rest.slice(0, MAX_LINES)].map(({ text }) => text);
  output.between(more > 0 ? [...texts, `And ${more} more at the same time.`] : texts);
  if (news.some(({ weight }) => weight === 'rings')) output.bell();
};

/**
 * Creates the loader of the agents that ask for an approval and are not known yet. It loads each at
 * most once, so that an announcement can name the agent.
 */
const createNaming = ({ store, feed }: DeskState) => {
  const sought = new Set<string>();
  return {
    /** Loads the missing agents. Returns true if there were any. */
    named: async (): Promise<boolean> => {
      const { approvals, agents } = store.get().lists;
      const asking = Object.values(approvals.byId)
        .filter(({ status }) => status === 'pending')
        .flatMap(({ agentId }) => agentId ?? []);
      const unknown = asking.filter((id) => !(id in agents.byId) && !sought.has(id));
      for (const id of unknown) sought.add(id);
      if (unknown.length === 0) return false;
      await feed.reload('agents');
      // A request that began later takes the place of this one, whose answer is dropped.
      const isRead = ({ lists }: State): boolean =>
        lists.agents.askedAt === null || unknown.every((id) => id in lists.agents.byId);
      await reached(store, isRead, MAX_READ_MS);
      return true;
    },
  };
};

/**
 * Creates the follower of a page, which gives the entries that arrived since its last call. Going
 * to another page ends the following.
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
