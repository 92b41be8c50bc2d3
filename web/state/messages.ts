import { useCallback, useEffect, useRef } from 'preact/hooks';
import type { MessageReply } from '../../src/conversations/contract.js';
import { AGENT_TOPICS, agentIdOfEvent } from './agentevents.js';
import { ask, type RequestError } from './api.js';
import { wait } from './clock.js';
import { useTopics } from './live.js';
import { asRequestError } from './load.js';
import { useRedraw } from './redraw.js';
import { useRetry } from './retry.js';
import { useWhenVisible } from './visibility.js';

/** Known messages of a conversation, and functions that load more. */
export interface ChatMessages {
  messages: readonly MessageReply[];
  isLoading: boolean;
  hasEarlier: boolean;
  error: RequestError | null;
  /** Loads newer messages. Resolves when they are there. */
  pull(): Promise<void>;
  /** Loads a page of earlier messages. */
  pullEarlier(): Promise<void>;
}

/** Number of messages loaded at first and per earlier page. */
const FIRST = 50;
const PAGE = 200;
const PAUSE_MS = 250;

interface MessageBuffer {
  messages: MessageReply[];
  isLoaded: boolean;
  error: RequestError | null;
  loading: Promise<void> | null;
  isBehind: boolean;
}

const empty = (): MessageBuffer => ({
  messages: [],
  isLoaded: false,
  error: null,
  loading: null,
  isBehind: false,
});

/**
 * Hook: the newest messages of a conversation. New messages of these agents are loaded as they
 * arrive, or once the page is visible.
 */
export const useMessages = (id: string, agentIds: readonly string[]): ChatMessages => {
  const held = useRef(empty());
  const redraw = useRedraw();
  const pull = useCallback(async () => {
    await pullNewer(id, held.current);
    redraw();
  }, [id, redraw]);
  const pullEarlier = useCallback(async () => {
    await loadEarlier(id, held.current);
    redraw();
  }, [id, redraw]);
  useEffect(() => {
    held.current = empty();
    void pull();
  }, [pull]);
  const follow = useWhenVisible(() => void pull());
  const hear = (event: unknown) => {
    const agentId = agentIdOfEvent(event);
    if (agentId !== null && agentIds.includes(agentId)) follow();
  };
  useTopics(AGENT_TOPICS, hear, follow);
  // Messages written before an agent was known here have been missed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: other agents are a reason to load
  useEffect(() => void (agentIds.length > 0 && follow()), [agentIds.join(' ')]);
  const { messages, isLoaded, error } = held.current;
  useRetry(error, follow);
  const hasEarlier = (messages[0]?.seq ?? 1) > 1;
  return { messages, isLoading: !isLoaded, hasEarlier, error, pull, pullEarlier };
};

/** One load at a time: further callers wait for the next one. */
const pullNewer = (id: string, held: MessageBuffer): Promise<void> => {
  held.isBehind = true;
  held.loading ??= (async () => {
    try {
      while (held.isBehind) {
        held.isBehind = false;
        await loadNewer(id, held);
        // An active agent sends many events. They share one load.
        if (held.isBehind) await wait(PAUSE_MS);
      }
      held.error = null;
      held.isLoaded = true;
    } catch (error) {
      held.error = asRequestError(error);
    } finally {
      held.loading = null;
    }
  })();
  return held.loading;
};

const loadNewer = async (id: string, held: MessageBuffer): Promise<void> => {
  const last = held.messages.at(-1)?.seq ?? (await firstToLoad(id));
  const query = { cursor: String(last), limit: PAGE };
  const page = await ask('GET', '/api/sessions/{id}/messages', { id, query });
  held.messages = [...held.messages, ...page.messages];
  if (page.nextCursor !== null) held.isBehind = true;
};

/** Messages are numbered from 1 without gaps, so that the last ones can be requested. */
const firstToLoad = async (id: string): Promise<number> => {
  const { messageCount } = await ask('GET', '/api/sessions/{id}', { id });
  return Math.max(0, messageCount - FIRST);
};

const loadEarlier = async (id: string, held: MessageBuffer): Promise<void> => {
  const first = held.messages[0]?.seq ?? 1;
  const after = Math.max(0, first - 1 - FIRST);
  if (first <= 1) return;
  const query = { cursor: String(after), limit: first - 1 - after };
  const page = await ask('GET', '/api/sessions/{id}/messages', { id, query });
  held.messages = [...page.messages.filter(({ seq }) => seq < first), ...held.messages];
};
