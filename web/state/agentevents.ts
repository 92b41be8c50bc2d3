import { useCallback, useEffect, useRef } from 'preact/hooks';
import type { AgentEvent } from '../../src/agents/contract.js';
import { isRecord, textAt } from '../../src/kernel/jsonvalue.js';
import { ask, type RequestError } from './api.js';
import { useTopics } from './live.js';
import { asRequestError } from './load.js';
import { useRedraw } from './redraw.js';
import { useRetry } from './retry.js';
import { useWhenVisible } from './visibility.js';

export const AGENT_TOPICS = ['agent.status', 'agent.message', 'agent.tool_call'];

/** The agent of an event. `null` if the event has none. */
export const agentIdOfEvent = (event: unknown): string | null => textAt(event, 'agentId');

const isAgentEvent = (event: unknown): event is AgentEvent =>
  isRecord(event) && typeof event.id === 'number' && isRecord(event.data);

/** The agents, with the state of one of them updated by an event. */
export const withEvent = <A extends { id: string; status: string }>(
  agents: readonly A[],
  event: unknown,
): A[] =>
  agents.map((agent) => {
    const status = textAt(event, 'data', 'status');
    if (agentIdOfEvent(event) !== agent.id || status === null) return agent;
    return { ...agent, status, error: textAt(event, 'data', 'error') };
  });

export interface AgentEvents {
  events: readonly AgentEvent[];
  /** Number of first events that are no longer stored. */
  dropped: number;
  isLoaded: boolean;
  error: RequestError | null;
  reload(): void;
}

const PAGE = 200;
/** Maximum events kept, so that a page that is open for days does not grow without limit. */
const MAX_EVENTS = 1000;

interface EventBuffer {
  events: AgentEvent[];
  last: number;
  dropped: number;
  isLoaded: boolean;
  isLoading: boolean;
  error: RequestError | null;
  /** Whether something was missed during a load. */
  isBehind: boolean;
}

const nothingYet = (): EventBuffer => ({
  events: [],
  last: 0,
  dropped: 0,
  isLoaded: false,
  isLoading: false,
  error: null,
  isBehind: false,
});

/**
 * Hook: the events of an agent, oldest first. Events missed by the socket are loaded once the page
 * is visible.
 */
export const useAgentEvents = (id: string): AgentEvents => {
  const kept = useRef(nothingYet());
  const redraw = useRedraw();
  const reload = useCallback(() => {
    void pull(id, kept.current).finally(redraw);
  }, [id, redraw]);
  useEffect(() => {
    kept.current = nothingYet();
    reload();
  }, [reload]);
  const catchUp = useWhenVisible(reload);
  const hear = (event: unknown) => {
    if (agentIdOfEvent(event) !== id || !isAgentEvent(event)) return;
    if (event.id <= kept.current.last) return;
    if (event.id > kept.current.last + 1) return catchUp();
    add(kept.current, [event]);
    redraw();
  };
  useTopics(AGENT_TOPICS, hear, catchUp);
  const { events, dropped, isLoaded, error } = kept.current;
  useRetry(error, catchUp);
  return { events, dropped, isLoaded, error, reload };
};

/** Loads events newer than the last one, one load at a time. */
const pull = async (id: string, kept: EventBuffer): Promise<void> => {
  if (kept.isLoading) {
    kept.isBehind = true;
    return;
  }
  kept.isLoading = true;
  kept.error = null;
  try {
    do {
      kept.isBehind = false;
      const query = { after: kept.last, limit: PAGE };
      const page = await ask('GET', '/api/agents/{id}/events', { id, query });
      if (page.gap) kept.dropped += page.oldestId - kept.last - 1;
      add(
        kept,
        page.events.filter((event) => event.id > kept.last),
      );
      if (page.events.length === PAGE) kept.isBehind = true;
    } while (kept.isBehind);
    kept.isLoaded = true;
  } catch (error) {
    kept.error = asRequestError(error);
  } finally {
    kept.isLoading = false;
  }
};

const add = (kept: EventBuffer, fresh: AgentEvent[]): void => {
  const events = [...kept.events, ...fresh];
  kept.dropped += Math.max(0, events.length - MAX_EVENTS);
  kept.events = events.slice(-MAX_EVENTS);
  kept.last = events.at(-1)?.id ?? kept.last;
};
