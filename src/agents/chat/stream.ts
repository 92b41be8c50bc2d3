import { setTimeout as pause } from 'node:timers/promises';
import type { ServerSentEvent } from '../../kernel/contract/endpoint.js';
import { type Hub, readOrWait } from '../../realtime/module.js';
import type { AgentRow } from '../../store/tables/agents.js';
import { AGENT_CHANNELS, FINISHED, isAbout, RESTING } from '../agent.js';
import type { AgentEvent } from '../contract.js';
import type { AgentRows } from '../rows.js';
import type { Deltas } from '../textdeltas.js';
import type { ChatAnswer } from './contract.js';

export interface FollowingDeps {
  rows: AgentRows;
  hub: Hub;
  deltas: Deltas;
}

const PAGE = 200;
const IDLE_MS = 15_000;
/**
 * The maximum length of text that waits for a slow reader. The reader gets the rest only with the
 * complete message.
 */
const MAX_PENDING = 262_144;

/** Returns an agent's present result as the API shows it. */
export const viewAnswer = ({
  id,
  session_id,
  status,
  result,
  note,
  error,
}: AgentRow): ChatAnswer => ({
  sessionId: session_id,
  agentId: id,
  message: FINISHED.includes(status) ? result : null,
  note,
  status,
  error,
});

/**
 * Streams the results of a message: `chat` first, then the agent's events under their own names and
 * numbers, the text of its replies as `delta` while it is written, and `done` with the result. A
 * `delta` with `restart` replaces the text of the reply before it, which was reasoning. A client
 * that sends the number of an event as `Last-Event-ID` gets the events after it. The stream ends
 * when the daemon stops.
 */
export async function* eventsOf(
  deps: FollowingDeps,
  agent: AgentRow,
  from: { after: number; signal: AbortSignal },
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const ending = new AbortController();
  const forget = deps.hub.whenOver(() => ending.abort());
  const signal = AbortSignal.any([from.signal, ending.signal]);
  try {
    yield { event: 'chat', data: viewAnswer(agent) };
    yield* followReply(deps, agent, { after: from.after, signal });
    const now = signal.aborted ? undefined : await deps.rows.byId(agent.id);
    if (now) yield { event: 'done', data: viewAnswer(now) };
  } finally {
    forget();
  }
}

/**
 * Streams the agent's events after a number, and its replies as they are written, until the agent
 * finishes or the reader disconnects. An empty event says that there is nothing new. It subscribes
 * before it reads, so that no event is missed. The text of a reply comes before its message.
 */
async function* followReply(
  deps: FollowingDeps,
  agent: AgentRow,
  { after, signal }: { after: number; signal: AbortSignal },
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const news = listen(deps, agent, signal);
  let last = after;
  let wasOver = false;
  try {
    while (!signal.aborted) {
      while (news.takeEvents()) {
        const page = await deps.rows.events(agent.id, last, PAGE);
        if (page.gap) yield { event: 'gap', data: { oldestId: page.oldestId } };
        for (const event of page.events) {
          last = event.id;
          yield* deltaOf(news.takeText(stepOf(event)));
          yield { id: String(event.id), event: event.type, data: event };
          if (isEnd(event)) return;
        }
        if (page.events.length === PAGE) news.again();
        else if (page.events.length === 0 && (await isOver(deps, agent.id))) {
          if (wasOver) return;
          // The last events may have been written after they were read, and before the status was.
          wasOver = true;
          news.again();
        }
      }
      yield* deltaOf(news.takeText(Number.POSITIVE_INFINITY));
      if (await news.isIdle()) yield {};
    }
  } finally {
    news.stop();
  }
}

/** Returns the number before the event with which the agent's present turn began. */
export const seqBeforeTurn = async (rows: AgentRows, agentId: string): Promise<number> => {
  const { events } = await rows.events(agentId, 0, PAGE);
  const began = events.findLast(({ data }) => data.status === 'queued');
  return began ? began.id - 1 : 0;
};

/**
 * Waits until the agent finishes or rests, or the time is up. Returns the agent as it is then;
 * undefined if it is gone.
 */
export const waitForOneAgent = async (
  { rows, hub }: FollowingDeps,
  { id, user_id }: AgentRow,
  { ms, signal }: { ms: number; signal: AbortSignal },
): Promise<AgentRow | undefined> => {
  const wait = {
    userId: user_id,
    channels: ['agent.status'],
    concerns: (data: unknown) => isAbout(data, id),
    ms,
    signal,
  };
  await readOrWait(hub, wait, async () => {
    const now = await rows.byId(id);
    return !now || [...FINISHED, ...RESTING].includes(now.status) ? [id] : [];
  });
  return rows.byId(id);
};

const deltaOf = ({ text, isRestart }: PendingText): ServerSentEvent[] => {
  if (text === '' && !isRestart) return [];
  return [{ event: 'delta', data: isRestart ? { text, restart: true } : { text } }];
};

/** Text of a reply that its reader has not got. */
interface PendingText {
  text: string;
  /** True if it replaces the text of the reply that the reader has. */
  isRestart: boolean;
}

/** Returns the step whose reply is complete with this event; 0 if it completes none. */
const stepOf = ({ type, data }: AgentEvent): number =>
  type === 'agent.message' && typeof data.step === 'number' ? data.step : 0;

const isEnd = ({ type, data }: AgentEvent): boolean =>
  type === 'agent.status' && FINISHED.some((status) => status === data.status);

const isOver = async ({ rows }: FollowingDeps, id: string): Promise<boolean> => {
  const now = await rows.byId(id);
  return now === undefined || FINISHED.includes(now.status);
};

/** Collects what arrives while the reader is busy, and wakes the reader. */
const listen = ({ hub, deltas }: FollowingDeps, { id, user_id }: AgentRow, signal: AbortSignal) => {
  let waking = new AbortController();
  let hasEvents = true;
  /** Pieces of replies in the order of writing. */
  let pending: (PendingText & { step: number })[] = [];
  let length = 0;
  const stops = [
    ...AGENT_CHANNELS.map((channel) =>
      hub.listen(user_id, channel, (data) => {
        if (!isAbout(data, id)) return;
        hasEvents = true;
        waking.abort();
      }),
    ),
    deltas.listen(id, (text, step) => {
      const last = pending.at(-1);
      if (text === null) {
        if (last?.step === step) length -= last.text.length;
        const others = pending.filter((piece) => piece.step !== step);
        pending = [...others, { step, text: '', isRestart: true }];
      } else if (length < MAX_PENDING) {
        if (last?.step === step) last.text += text;
        else pending.push({ step, text, isRestart: false });
        length += text.length;
      }
      waking.abort();
    }),
  ];
  return {
    /** Takes the text of the replies up to this step. */
    takeText: (upTo: number): PendingText => {
      const taken = pending.filter(({ step }) => step <= upTo);
      const text = taken.map((piece) => piece.text).join('');
      pending = pending.slice(taken.length);
      length -= text.length;
      return { text, isRestart: taken.some(({ isRestart }) => isRestart) };
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
      if (hasEvents || pending.length > 0 || signal.aborted) return false;
      waking = new AbortController();
      const either = AbortSignal.any([signal, waking.signal]);
      return pause(IDLE_MS, true, { signal: either }).catch(() => false);
    },
    stop: () => {
      for (const stop of stops) stop();
    },
  };
};
