import { useCallback, useEffect, useRef } from 'preact/hooks';
import type { AgentEvent } from '../../src/agents/contract.js';
import { isRecord, textAt } from '../../src/kernel/jsonvalue.js';
import { ask, type RequestError } from './api.js';
import { useTopics } from './live.js';
import { asRequestError } from './load.js';
import { useRedraw } from './redraw.js';
import { useRetry } from './retry.js';
import { useWhenShown } from './visibility.js';

/** The topics whose events are about agents. */
export const AGENT_TOPICS = ['agent.status', 'agent.message', 'agent.tool_call'];

/** Returns the agent that an event is about; null if it is about none. */
export const agentOf = (event: unknown): string | null => textAt(event, 'agentId');

const isAgentEvent = (event: unknown): event is AgentEvent =>
  isRecord(event) && typeof event.id === 'number' && isRecord(event.data);

/** Returns the agents, with the state that an event tells of one of them. */
export const withEvent = <A extends { id: string; status: string }>(
  agents: readonly A[],
  event: unknown,
): A[] =>
  agents.map((agent) => {
    const status = textAt(event, 'data', 'status');
    if (agentOf(event) !== agent.id || status === null) return agent;
    return { ...agent, status, error: textAt(event, 'data', 'error') };
  });

/** The events of one agent as far as they are known. */
export interface AgentEvents {
  events: readonly AgentEvent[];
  /** The number of first events that are no longer kept. */
  dropped: number;
  isLoaded: boolean;
  error: RequestError | null;
  reload(): void;
}

const PAGE = 200;
/** The most events that are held; a page that is open for days must not grow for ever. */
const MAX_EVENTS = 1000;

interface Kept {
  events: AgentEvent[];
  last: number;
  dropped: number;
  isLoaded: boolean;
  isLoading: boolean;
  error: RequestError | null;
  /** True if something was missed while a load was under way. */
  isBehind: boolean;
}

const nothingYet = (): Kept => ({
  events: [],
  last: 0,
  dropped: 0,
  isLoaded: false,
  isLoading: false,
  error: null,
  isBehind: false,
});

/** Hook: the events of an agent, oldest first. Those missed by the socket are loaded, once the page is shown. */
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
  const catchUp = useWhenShown(reload);
  const hear = (event: unknown) => {
    if (agentOf(event) !== id || !isAgentEvent(event)) return;
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

/** Loads what is newer than the last event, one load at a time. */
const pull = async (id: string, kept: Kept): Promise<void> => {
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

const add = (kept: Kept, fresh: AgentEvent[]): void => {
  const events = [...kept.events, ...fresh];
  kept.dropped += Math.max(0, events.length - MAX_EVENTS);
  kept.events = events.slice(-MAX_EVENTS);
  kept.last = events.at(-1)?.id ?? kept.last;
};
