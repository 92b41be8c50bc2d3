import { type Hub, readOrWait } from '../realtime/hub.js';
import type { AgentRow } from '../store/tables/agents.js';
import { AGENT_CHANNELS, FINISHED, RESTING } from './agent.js';
import type { AgentEvent } from './record.js';
import type { AgentRows } from './rows.js';
import type { Deltas } from './textdeltas.js';

export interface FollowingDeps {
  rows: AgentRows;
  hub: Hub;
  deltas: Deltas;
}

/**
 * The output of following an agent, in order; `idle` says that the stream is alive and there is
 * nothing new.
 */
export type FollowEvent =
  | { type: 'event'; event: AgentEvent }
  | { type: 'delta'; text: string }
  | { type: 'gap'; oldestId: number }
  | { type: 'idle' };

const PAGE = 200;
const IDLE_MS = 15_000;
/**
 * The maximum length of text that waits for a slow reader. The reader gets the rest only with the
 * complete message.
 */
const MOST_PENDING = 262_144;

/**
 * Streams the agent's events after a number, and its replies as they are written, until the agent
 * finishes or the reader disconnects. It subscribes before it reads, so that no event is missed.
 */
export async function* followReply(
  deps: FollowingDeps,
  agent: Pick<AgentRow, 'id' | 'user_id'>,
  { after, signal }: { after: number; signal: AbortSignal },
): AsyncGenerator<FollowEvent, void, undefined> {
  const news = listen(deps, agent, signal);
  let last = after;
  try {
    while (!signal.aborted) {
      const text = news.takeText();
      if (text !== '') yield { type: 'delta', text };
      if (news.takeEvents()) {
        const page = await deps.rows.events(agent.id, last, PAGE);
        if (page.gap) yield { type: 'gap', oldestId: page.oldestId };
        for (const event of page.events) {
          last = event.id;
          yield { type: 'event', event };
          if (isEnd(event)) return;
        }
        if (page.events.length === PAGE) news.again();
        else if (page.events.length === 0 && (await isOver(deps, agent.id))) return;
      }
      if (await news.isIdle()) yield { type: 'idle' };
    }
  } finally {
    news.stop();
  }
}

/** Returns the number before the event with which the agent's present turn began. */
export const beforeTurn = async (rows: AgentRows, agentId: string): Promise<number> => {
  const { events } = await rows.events(agentId, 0, PAGE);
  const began = events.findLast(({ data }) => data.status === 'queued');
  return began ? began.id - 1 : 0;
};

/**
 * Waits until the agent finishes or rests, or the time is up. Returns the agent as it is then;
 * undefined if it is gone.
 */
export const waitForOneAgent = async (
  { rows, hub }: Pick<FollowingDeps, 'rows' | 'hub'>,
  { id, user_id }: Pick<AgentRow, 'id' | 'user_id'>,
  { ms, signal }: { ms: number; signal: AbortSignal },
): Promise<AgentRow | undefined> => {
  const wait = {
    userId: user_id,
    channels: ['agent.status'],
    concerns: (data: unknown) => isOf(data, id),
    ...{ ms, signal },
  };
  await readOrWait(hub, wait, async () => {
    const now = await rows.byId(id);
    return !now || [...FINISHED, ...RESTING].includes(now.status) ? [id] : [];
  });
  return rows.byId(id);
};

const isEnd = ({ type, data }: AgentEvent): boolean =>
  type === 'agent.status' && FINISHED.some((status) => status === data.status);

const isOver = async ({ rows }: FollowingDeps, id: string): Promise<boolean> => {
  const now = await rows.byId(id);
  return now === undefined || FINISHED.includes(now.status);
};

const isOf = (data: unknown, id: string): boolean =>
  typeof data === 'object' && data !== null && 'agentId' in data && data.agentId === id;

/** Collects what arrives while the reader is busy, and wakes the reader. */
const listen = (
  { hub, deltas }: FollowingDeps,
  { id, user_id }: Pick<AgentRow, 'id' | 'user_id'>,
  signal: AbortSignal,
) => {
  let wake = (): void => undefined;
  let hasEvents = true;
  let text = '';
  const stops = [
    ...AGENT_CHANNELS.map((channel) =>
      hub.listen(user_id, channel, (data) => {
        if (!isOf(data, id)) return;
        hasEvents = true;
        wake();
      }),
    ),
    deltas.listen(id, (more) => {
      if (text.length < MOST_PENDING) text += more;
      wake();
    }),
  ];
  const awake = (): void => wake();
  signal.addEventListener('abort', awake, { once: true });
  return {
    takeText: () => {
      const taken = text;
      text = '';
      return taken;
    },
    takeEvents: () => {
      const taken = hasEvents;
      hasEvents = false;
      return taken;
    },
    again: () => {
      hasEvents = true;
    },
    /**
     * Resolves to false when there is something new, and to true after a while without anything.
     */
    isIdle: async (): Promise<boolean> => {
      if (hasEvents || text !== '' || signal.aborted) return false;
      let timer: NodeJS.Timeout | undefined;
      const isIdle = await new Promise<boolean>((resolve) => {
        wake = () => resolve(false);
        timer = setTimeout(() => resolve(true), IDLE_MS);
      });
      clearTimeout(timer);
      return isIdle;
    },
    stop: () => {
      for (const stop of stops) stop();
      signal.removeEventListener('abort', awake);
    },
  };
};
