import { screenPage } from '../screens.js';
import type { Knowledge } from '../state/knowledge.js';
import type { State } from '../state/state.js';
import { lookOf } from '../state/ui.js';
import type { Announcement } from './announcement.js';
import { createListener, type LinearNews } from './listener.js';
import type { LinearOutput } from './output.js';
import { textLines } from './words.js';

/** What happens, told between the words of the person. */
export interface Announcer {
  /** What is known now is no news; the rest is. */
  begin(): void;
  /** Nothing at all is told while a question stands. */
  hold(isHeld: boolean): void;
  /** Everything that happens, or only what needs the person. */
  tellAll(isAll: boolean): void;
  /** Stops what runs by, or lets it go on; true: it stands still now. */
  pause(): boolean;
  /** What comes on the page on top, or no more of it; null: nothing comes there. */
  follow(): boolean | null;
  close(): void;
}

export interface AnnouncerDeps {
  known: Knowledge;
  told: Announcement;
  output: LinearOutput;
  now(): number;
  /** Of what cannot be. */
  fail(error: unknown): void;
}

/** Ours: twice a second a voice is given something to say, and no more than that many lines. */
const PACE_MS = 500;
const MOST_LINES = 10;
const MOST_HELD = 500;

export const openTelling = ({ known, told, output, now, fail }: AnnouncerDeps): Announcer => {
  const { store } = known;
  const listener = createListener(told);
  const followed = createFollower(store.get);
  const askers = createNaming(known);
  const wish = { isHeld: true, isAll: true, isPaused: false, isOver: false };
  let held: LinearNews[] = [];
  let timer: NodeJS.Timeout | undefined;

  const isWaiting = ({ weight }: LinearNews): boolean =>
    wish.isPaused && (weight === 'heard' || weight === 'followed');
  const flush = async (): Promise<void> => {
    timer = undefined;
    // What has come is known with the tick; who asks in it may have to be read, and comes so too.
    do store.dispatch({ type: 'session.ticked', now: now() });
    while (await askers.named());
    if (wish.isHeld || wish.isOver) return;
    const news = [...held, ...listener.hear(store.get()), ...followed.fresh()].filter(
      ({ weight }) => wish.isAll || weight !== 'heard',
    );
    held = news.filter(isWaiting).slice(-MOST_HELD);
    tell(
      output,
      news.filter((each) => !isWaiting(each)),
    );
  };
  const plan = (): void => {
    if (!wish.isOver) timer ??= setTimeout(() => void flush().catch(fail), PACE_MS);
  };
  // Not of the clock: what is told sets it.
  const stops = [
    store.subscribe(({ lists }) => lists, plan),
    store.subscribe(({ overview }) => overview, plan),
    store.subscribe(({ streams }) => streams, plan),
    store.subscribe(({ session }) => session.link, plan),
  ];

  return {
    begin: () => {
      listener.hear(store.get());
      wish.isHeld = false;
    },
    hold: (isHeld) => {
      wish.isHeld = isHeld;
      plan();
    },
    tellAll: (isAll) => {
      wish.isAll = isAll;
      wish.isPaused = false;
    },
    pause: () => {
      wish.isPaused = !wish.isPaused;
      plan();
      return wish.isPaused;
    },
    follow: () => {
      wish.isPaused = false;
      return followed.toggle();
    },
    close: () => {
      wish.isOver = true;
      for (const stop of stops) stop();
      clearTimeout(timer);
    },
  };
};

/** First what somebody is needed for; of too much only how much it is. */
const tell = (output: LinearOutput, news: readonly LinearNews[]): void => {
  const isLoud = ({ weight }: LinearNews): boolean => weight === 'rings' || weight === 'always';
  const rest = news.filter((each) => !isLoud(each));
  const more = rest.length - MOST_LINES;
  const said = [...news.filter(isLoud), ...rest.slice(0, MOST_LINES)].map(({ text }) => text);
  output.between(more > 0 ? [...said, `And ${more} more of the same moment.`] : said);
  if (news.some(({ weight }) => weight === 'rings')) output.bell();
};

/** Who asks is told by name: an agent that is not known yet is read once. */
const createNaming = ({ store, feed }: Knowledge) => {
  const sought = new Set<string>();
  return {
    /** Whether something was read. */
    named: async (): Promise<boolean> => {
      const { approvals, agents } = store.get().lists;
      const asking = Object.values(approvals.byId)
        .filter(({ status }) => status === 'pending')
        .flatMap(({ agentId }) => agentId ?? []);
      const unknown = asking.filter((id) => !(id in agents.byId) && !sought.has(id));
      for (const id of unknown) sought.add(id);
      if (unknown.length > 0) await feed.reload('agents');
      return unknown.length > 0;
    },
  };
};

/** What comes on a page that is followed, since it was looked at last; another page ends it. */
const createFollower = (get: () => State) => {
  let followed: { place: string; last: number } | null = null;
  const placeOf = ({ ui }: State): string => `${lookOf(ui).page} ${lookOf(ui).id}`;
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
