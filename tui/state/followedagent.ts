import type { Client, TextDelta } from '../../src/client/index.js';
import { toLoadFailure } from './errors.js';
import type { DeskStore } from './state.js';
import { getStreamRing, type StreamEntry } from './streams.js';

interface Followed {
  wanting: number;
  /** Number of the newest event passed to the store. */
  last: number;
  reading: Promise<void> | null;
  /** Whether an event arrived during the loading that the reply may not contain. */
  isAgain: boolean;
}

const PAGE = 200;

/** Agents whose every event is needed, from the socket and from the API for those it missed. */
export const createAgentFollower = ({ client, store }: { client: Client; store: DeskStore }) => {
  const agents = new Map<string, Followed>();

  const readPage = async (name: string, of: Followed): Promise<boolean> => {
    const page = await client.agents.events({ id: name, query: { after: of.last, limit: PAGE } });
    if (page.gap) {
      store.queue({ type: 'stream.gap', name, from: of.last + 1, to: page.oldestId - 1 });
    }
    const entries = page.events.map(({ id, at, type, data }) => ({
      number: id,
      at,
      kind: type,
      data,
    }));
    store.queue({ type: 'stream.added', name, entries });
    of.last = Math.max(of.last, page.lastId);
    return page.events.length === PAGE;
  };
  const read = async (name: string, of: Followed): Promise<void> => {
    try {
      let isMore = true;
      while (isMore && of.wanting > 0) {
        of.isAgain = false;
        isMore = (await readPage(name, of)) || of.isAgain;
      }
    } catch (error) {
      // The agent's page shows the reason. The next event tries again.
      toLoadFailure(error);
    } finally {
      of.reading = null;
    }
  };
  const readNow = (name: string, of: Followed): Promise<void> => {
    of.reading ??= read(name, of);
    return of.reading;
  };

  return {
    /** Follows an agent from its newest known event. Returns a function that ends it. */
    begin: (agentId: string): (() => void) => {
      const last = getStreamRing(store.get().streams, agentId).last;
      const of = agents.get(agentId) ?? { wanting: 0, last, reading: null, isAgain: false };
      agents.set(agentId, of);
      of.wanting += 1;
      void readNow(agentId, of);
      return () => {
        of.wanting -= 1;
        if (of.wanting === 0) agents.delete(agentId);
      };
    },
    /** Handles an event from the socket. Missing events before it are loaded. */
    told: (agentId: string, entry: StreamEntry): void => {
      const of = agents.get(agentId);
      if (!of || (entry.number !== null && entry.number <= of.last)) return;
      if (of.reading) of.isAgain = true;
      else if (entry.number !== of.last + 1) void readNow(agentId, of);
      else {
        of.last = entry.number;
        store.queue({ type: 'stream.added', name: agentId, entries: [entry] });
      }
    },
    wrote: (delta: TextDelta): void => {
      if (agents.has(delta.agentId)) store.queue({ type: 'reply.grew', delta });
    },
    catchUp: async (): Promise<void> => {
      await Promise.all([...agents].map(([name, of]) => readNow(name, of)));
    },
  };
};
