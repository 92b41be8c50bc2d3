import type { Agent } from '../../../src/client/index.js';
import type { ReplyText } from '../../../src/client/replytext.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { durationText } from '../../parts/times.js';
import type { State } from '../../state/state.js';
import { ringOf, type StreamEntry } from '../../state/streams.js';
import { topView } from '../../state/ui.js';
import { NAME, namedRows } from './transcript.js';

const SECOND = 1000;

/**
 * Returns the reply that an agent is writing, and for how long its step has been under way. The reply
 * stays until the stored message is loaded, which has the same place.
 */
export const stepRows = (state: State, agent: Agent, width: number): ScreenRow[] => {
  const { entries } = ringOf(state.streams, agent.id);
  const reply = state.replies[agent.id];
  const isShown = reply !== undefined && isPending(state, agent, reply, entries);
  return [
    ...(isShown ? replyRows(reply, width, topView(state.ui).isWrapped) : []),
    ...timeRows(state, agent, { last: entries.at(-1), isWriting: isShown }),
  ];
};

/** True if the transcript does not have the reply yet, but will. */
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

/** Rows by reply: while it does not grow, it is drawn once a second all the same. */
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
  const doing = isWriting ? 'the model is writing' : doingOf(last);
  return [row(tonedSpan('muted', `${'now'.padEnd(NAME)}${lasted}  ${doing}`))];
};

/** Returns what an agent does after its newest event, in words. */
const doingOf = ({ kind, data }: StreamEntry): string => {
  if (kind === 'agent.tool_call' && data.phase === 'call') return `running ${String(data.tool)}`;
  if (kind === 'agent.message') return 'starting tool calls';
  return 'waitingFor' in data ? 'waiting for sub-agents' : 'waiting for the model';
};
