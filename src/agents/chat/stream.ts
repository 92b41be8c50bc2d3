import type { Clock } from '../../kernel/clock.js';
import type { ServerSentEvent } from '../../kernel/contract/endpoint.js';
import { formatPassedOver } from '../../kernel/passedover.js';
import { type Hub, readOrWait } from '../../realtime/module.js';
import type { AgentRow } from '../../store/tables/agents.js';
import { AGENT_CHANNELS, FINISHED, isEventOfAgent, RESTING } from '../agent.js';
import type { AgentEvent } from '../contract.js';
import type { AgentRows } from '../rows.js';
import type { Deltas } from '../textdeltas.js';
import type { ChatAnswer } from './contract.js';

export interface FollowingDeps {
  rows: AgentRows;
  clock: Clock;
  hub: Hub;
  deltas: Deltas;
}

const PAGE = 200;
const IDLE_MS = 15_000;
/** Maximum text that is buffered for a slow reader, who gets the rest with the complete message. */
const MAX_PENDING = 262_144;

const viewAnswer = ({ id, session_id, status, result, note, error }: AgentRow): ChatAnswer => ({
  sessionId: session_id,
  agentId: id,
  message: FINISHED.includes(status) ? result : null,
  note,
  status,
  error,
});

/** With a note if other models were passed over. */
export const readAnswer = async (
  { rows }: Pick<FollowingDeps, 'rows'>,
  agent: AgentRow,
): Promise<ChatAnswer> => {
  const answer = viewAnswer(agent);
  if (answer.message === null || answer.note !== null) return answer;
  const { events } = await rows.events(agent.id, 0, PAGE);
  const last = events.findLast(({ type }) => type === 'agent.message');
  return { ...answer, note: formatPassedOver(last?.data) };
};

/**
 * Streams `chat`, then the events of the agent, the text of its replies as `delta`, and `done`. A
 * `delta` with `restart` replaces the previous text, which was reasoning, of a model that failed, or
 * is repeated for a resumed reader.
 */
export async function* streamChatEvents(
  deps: FollowingDeps,
  agent: AgentRow,
  from: { after: number; isResumed?: boolean; signal: AbortSignal },
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const ending = new AbortController();
  const forget = deps.hub.whenOver(() => ending.abort());
  const signal = AbortSignal.any([from.signal, ending.signal]);
  try {
    yield { event: 'chat', data: viewAnswer(agent) };
    yield* followReply(deps, agent, { ...from, signal });
    const now = signal.aborted ? undefined : await deps.rows.byId(agent.id);
    if (now) yield { event: 'done', data: await readAnswer(deps, now) };
  } finally {
    forget();
  }
}

/**
 * Subscribes before it reads, so that no event is missed. An empty event means that there is
 * nothing new. The text of a reply comes before its message.
 */
async function* followReply(
  deps: FollowingDeps,
  agent: AgentRow,
  { after, isResumed = false, signal }: { after: number; isResumed?: boolean; signal: AbortSignal },
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const news = listen(deps, agent, { isResumed, signal });
  let last = after;
  let wasOver = false;
  try {
    while (!signal.aborted) {
      while (news.takeEvents()) {
        const page = await deps.rows.events(agent.id, last, PAGE);
        if (page.gap) yield { event: 'gap', data: { oldestId: page.oldestId } };
        for (const event of page.events) {
          last = event.id;
          yield* toDeltaEvents(news.takeText(getCompletedStep(event)));
          yield { id: String(event.id), event: event.type, data: event };
          if (isEnd(event)) return;
        }
        if (page.events.length === PAGE) news.again();
        else if (page.events.length === 0 && (await isOver(deps, agent.id))) {
          if (wasOver) return;
          // The last events may be newer than the read and older than the status.
          wasOver = true;
          news.again();
        }
      }
      yield* toDeltaEvents(news.takeText(Number.POSITIVE_INFINITY));
      if (await news.isIdle()) yield {};
    }
  } finally {
    news.stop();
  }
}

/** Returns the sequence number before the current turn. */
export const sequenceBeforeTurn = async (rows: AgentRows, agentId: string): Promise<number> => {
  const { events } = await rows.events(agentId, 0, PAGE);
  const began = events.findLast(({ data }) => data.status === 'queued');
  return began ? began.id - 1 : 0;
};

/** Returns undefined if the agent has been deleted. */
export const waitForOneAgent = async (
  { rows, hub }: FollowingDeps,
  { id, user_id }: AgentRow,
  { ms, signal }: { ms: number; signal: AbortSignal },
): Promise<AgentRow | undefined> => {
  const wait = {
    userId: user_id,
    channels: ['agent.status'],
    concerns: (data: unknown) => isEventOfAgent(data, id),
    ms,
    signal,
  };
  await readOrWait(hub, wait, async () => {
    const now = await rows.byId(id);
    return !now || [...FINISHED, ...RESTING].includes(now.status) ? [id] : [];
  });
  return rows.byId(id);
};

const toDeltaEvents = ({ text, isRestart }: PendingText): ServerSentEvent[] => {
  if (text === '' && !isRestart) return [];
  return [{ event: 'delta', data: isRestart ? { text, restart: true } : { text } }];
};

interface PendingText {
  text: string;
  /** Whether the text replaces the previous text of the reply. */
  isRestart: boolean;
}

/** Returns the step whose reply the event completes, or 0. */
const getCompletedStep = ({ type, data }: AgentEvent): number =>
  type === 'agent.message' && typeof data.step === 'number' ? data.step : 0;

const isEnd = ({ type, data }: AgentEvent): boolean =>
  type === 'agent.status' && FINISHED.some((status) => status === data.status);

const isOver = async ({ rows }: FollowingDeps, id: string): Promise<boolean> => {
  const now = await rows.byId(id);
  return now === undefined || FINISHED.includes(now.status);
};

const listen = (
  { clock, hub, deltas }: FollowingDeps,
  { id, user_id }: AgentRow,
  { isResumed, signal }: { isResumed: boolean; signal: AbortSignal },
) => {
  let waking = new AbortController();
  let hasEvents = true;
  /** In the order of writing. */
  let pending: (PendingText & { step: number })[] = [];
  let length = 0;
  const takeDelta = (text: string | null, step: number): void => {
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
  };
  const stops = [
    ...AGENT_CHANNELS.map((channel) =>
      hub.listen(user_id, channel, (data) => {
        if (!isEventOfAgent(data, id)) return;
        hasEvents = true;
        waking.abort();
      }),
    ),
    deltas.listen(id, takeDelta, isResumed),
  ];
  return {
    /** Takes the text of all replies up to this step. */
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
    /** Resolves to false on news, and to true after a period without any. */
    isIdle: async (): Promise<boolean> => {
      if (hasEvents || pending.length > 0 || signal.aborted) return false;
      waking = new AbortController();
      const either = AbortSignal.any([signal, waking.signal]);
      return clock.wait(IDLE_MS, either).then(
        () => true,
        () => false,
      );
    },
    stop: () => {
      for (const stop of stops) stop();
    },
  };
};
