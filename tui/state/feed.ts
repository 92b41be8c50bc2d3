import type { Client } from '../../src/client/index.js';
import { DELTAS } from '../../src/client/replytext.js';
import type { Cancel, Clock } from '../../src/kernel/clock.js';
import { toLoadFailure } from './errors.js';
import { createAgentFollower } from './followedagent.js';
import { isFull, type ListState } from './lists.js';
import { type ListLoader, loaders, loadListPages } from './loaders.js';
import { loadOverview } from './overview.js';
import { recentExecutions } from './recent.js';
import { createRequests } from './requests.js';
import type { ListName } from './rows.js';
import type { DeskStore, StateAction } from './state.js';

interface FeedDeps {
  client: Client;
  store: DeskStore;
  clock: Clock;
}

/** Always subscribed: the count in the title must be right on every screen. */
const ALWAYS = ['approval'];
const OF_AGENTS = ['agent.status', 'agent.message', 'agent.tool_call', DELTAS];
const FRESH_MS = 2000;

/**
 * Loads data while a screen needs it. `list`, `overview`, `channels` and `follow` return a function
 * that ends the need. `list` loads at once, unless the list is fresh, and then every `everyMs`
 * milliseconds. `more` loads the next rows; `reloadShown` reloads all needed data.
 */
export type Feed = ReturnType<typeof createFeed>;

export const createFeed = ({ client, store, clock }: FeedDeps) => {
  const { now } = clock;
  const wanted = new Map<ListName, number>();
  const agents = createAgentFollower({ client, store });
  const channels = new Map<string, number>(ALWAYS.map((name) => [name, 1]));
  const listeners = new Set<() => void>();
  const timers = new Set<Cancel>();
  const requests = createRequests(client);
  const below = new Set<ListName>();
  const counts = { overviews: 0, generation: 0 };

  const read = async <N extends ListName>(
    name: N,
    of: string | null,
    isWhole = false,
  ): Promise<void> => {
    const loader = loaders[name];
    const known = store.get().lists[name];
    if (isAnswered(loader, known, of)) return;
    const most = isWhole && known.of === of && !loader.isGrowing ? known.order.length : 0;
    counts.generation += 1;
    const asked = counts.generation;
    const { keepsRows } = loader;
    const ask = { do: 'ask' as const, of, generation: asked, at: now(), keepsRows };
    store.dispatch({ type: 'list', name, change: ask });
    const request = loader.isGivenUp ? requests.begin(name) : null;
    try {
      const { rows, nextCursor } = await loadListPages(loader, request?.client ?? client, of, most);
      const keepsBelow = !isWhole && !loader.isGrowing;
      const loaded = { do: 'load' as const, generation: asked, rows, nextCursor, at: now() };
      store.queue({
        type: 'list',
        name,
        change: { ...loaded, keepsBelow, isAdded: loader.isAskedOnce },
      });
    } catch (error) {
      if (!request?.signal.aborted) store.queue(failedLoad(name, asked, error));
    }
  };
  const readBelow = async <N extends ListName>(name: N): Promise<void> => {
    const loader = loaders[name];
    const list = store.get().lists[name];
    const { of, nextCursor: cursor, generation: asked, askedAt } = list;
    if (cursor === null || askedAt !== null || below.has(name)) return;
    if (isFull(list) && !loader.isGrowing) return;
    below.add(name);
    try {
      const { rows, nextCursor } = await loader.page(client, { of, cursor });
      const change = { do: 'more' as const, generation: asked, rows, nextCursor };
      store.queue({ type: 'list', name, change: { ...change, keepsNewest: loader.isGrowing } });
    } catch (error) {
      store.queue(failedLoad(name, asked, error));
    } finally {
      below.delete(name);
    }
  };
  /** Reloads a list, unless its next rows are being loaded, which would be dropped. */
  const readAgain = async (name: ListName, of: string | null): Promise<void> => {
    if (!below.has(name)) await read(name, of);
  };
  const readOverview = async (): Promise<void> => store.queue(await loadOverview(client, now));
  const readRecent = async (): Promise<void> => {
    const told = await recentExecutions(client, now(), store.get().streams);
    if (told) store.queue(told);
  };

  const every = (ms: number | null, act: () => Promise<void>): (() => void) => {
    if (ms === null) return () => {};
    const cancel = clock.every(ms, () => {
      if (store.get().session.link.is === 'live') void act();
    });
    timers.add(cancel);
    return () => {
      cancel();
      timers.delete(cancel);
    };
  };
  const tellChannels = (): void => {
    for (const tell of listeners) tell();
  };

  const hear = (names: readonly string[]): (() => void) => {
    for (const name of names) count(channels, name, 1);
    tellChannels();
    return () => {
      for (const name of names) count(channels, name, -1);
      tellChannels();
    };
  };

  return {
    list: (name: ListName, of: string | null, everyMs: number | null): (() => void) => {
      const known = store.get().lists[name];
      const isHeld = (wanted.get(name) ?? 0) > 0;
      const isFresh = isHeld && known.of === of && now() - (known.loadedAt ?? 0) < FRESH_MS;
      count(wanted, name, 1);
      if (!isFresh) void read(name, of);
      const again = () => (loaders[name].isGrowing ? readBelow(name) : readAgain(name, of));
      const stop = every(everyMs, again);
      return () => {
        stop();
        count(wanted, name, -1);
        requests.giveUp(name);
      };
    },
    overview: (everyMs: number): (() => void) => {
      counts.overviews += 1;
      void readOverview();
      void readRecent();
      const stop = every(everyMs, readOverview);
      return () => {
        counts.overviews -= 1;
        stop();
      };
    },
    channels: hear,
    follow: (agentId: string): (() => void) => {
      const end = agents.begin(agentId);
      const stop = hear(OF_AGENTS);
      return () => {
        end();
        stop();
      };
    },
    /** Followed agents. They receive the agent events of the socket. */
    agents,
    wantedChannels: (): string[] => counted(channels),
    /** Reports changes of `wantedChannels`. */
    onChannels: (tell: () => void): (() => void) => {
      listeners.add(tell);
      return () => void listeners.delete(tell);
    },
    reload: (name: ListName): Promise<void> => read(name, store.get().lists[name].of, true),
    isWanted: (name: ListName): boolean => (wanted.get(name) ?? 0) > 0,
    more: (name: ListName): Promise<void> => readBelow(name),
    reloadShown: async (): Promise<void> => {
      const shown = counted(wanted);
      await Promise.all([
        ...shown.map((name) => read(name, store.get().lists[name].of, true)),
        ...(counts.overviews > 0 ? [readOverview(), readRecent()] : []),
      ]);
    },
    close: (): void => {
      for (const cancel of timers) cancel();
      requests.close();
    },
  };
};

/** Whether a list that is requested only once is known or requested. */
const isAnswered = (
  { isAskedOnce }: Pick<ListLoader<unknown>, 'isAskedOnce'>,
  { of: asked, askedAt, byId }: ListState<unknown>,
  of: string | null,
): boolean => isAskedOnce === true && ((of ?? '') in byId || (asked === of && askedAt !== null));

const failedLoad = (name: ListName, generation: number, error: unknown): StateAction => ({
  type: 'list',
  name,
  change: { do: 'fail', generation, trouble: toLoadFailure(error) },
});

/** Counts the components that need something. */
const count = <K>(of: Map<K, number>, key: K, change: number): void =>
  void of.set(key, (of.get(key) ?? 0) + change);

const counted = <K>(of: Map<K, number>): K[] =>
  [...of].flatMap(([key, wanting]) => (wanting > 0 ? [key] : []));
