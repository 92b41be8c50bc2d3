import type { Agent } from '../../../src/client/index.js';
import type { ReplyText } from '../../../src/client/replytext.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { durationText } from '../../parts/times.js';
import type { State } from '../../state/state.js';
import { getStreamRing, type StreamEntry } from '../../state/streams.js';
import { topView } from '../../state/ui.js';
import { NAME, namedRows } from './transcript.js';

const SECOND = 1000;

/**
 * The reply being written, and the duration of the step. The reply stays until the stored message
 * replaces it.
 */
export const stepRows = (state: State, agent: Agent, width: number): ScreenRow[] => {
  const { entries } = getStreamRing(state.streams, agent.id);
  const reply = state.replies[agent.id];
  const isShown = reply !== undefined && isPending(state, agent, reply, entries);
  return [
    ...(isShown ? replyRows(reply, width, topView(state.ui).isWrapped) : []),
    ...timeRows(state, agent, { last: entries.at(-1), isWriting: isShown }),
  ];
};

/** Whether the transcript will have the reply, but does not have it yet. */
const isPending = (
  { lists: { messages } }: State,
  { status, sessionId }: Agent,
  { step }: ReplyText,
  entries: readonly StreamEntry[],
): boolean => {
  if (messages.of !== sessionId || messages.loadedAt === null) return false;
  const stored = entries.findLast(
    ({ kind, data }) => kind === 'agent.message' && data.step === step,
  );
  if (!stored) return status === 'running';
  const id = stored.data.messageId;
  return typeof id === 'string' && !(id in messages.byId);
};

/** Cached: even without new text the reply is drawn once a second. */
const drawn = new WeakMap<ReplyText, { key: string; rows: ScreenRow[] }>();

const replyRows = (reply: ReplyText, width: number, isWrapped: boolean): ScreenRow[] => {
  const key = `${width} ${isWrapped}`;
  const known = drawn.get(reply);
  if (known?.key === key) return known.rows;
  const rows = namedRows('assistant', reply.text, width, 'strong', isWrapped);
  drawn.set(reply, { key, rows });
  return rows;
};

const timeRows = (
  { session }: State,
  { status }: Agent,
  { last, isWriting }: { last: StreamEntry | undefined; isWriting: boolean },
): ScreenRow[] => {
  if (status !== 'running' || !last || session.link.is !== 'live') return [];
  const seconds = Math.max(0, Math.floor((session.now - Date.parse(last.at)) / SECOND));
  const lasted = seconds === 0 ? '0:00' : durationText(seconds * SECOND);
  const doing = isWriting ? 'the model is writing' : currentActivity(last);
  return [row(tonedSpan('muted', `${'now'.padEnd(NAME)}${lasted}  ${doing}`))];
};

/** Current activity of an agent, derived from its newest event. */
const currentActivity = ({ kind, data }: StreamEntry): string => {
  if (kind === 'agent.tool_call' && data.phase === 'call') return `running ${String(data.tool)}`;
  if (kind === 'agent.message') return 'starting tool calls';
  return 'waitingFor' in data ? 'waiting for sub-agents' : 'waiting for the model';
};
