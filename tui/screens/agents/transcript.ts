import type { Agent, Approval, ConversationMessage } from '../../../src/client/index.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { textRows } from '../../parts/text.js';
import { formatTimeLeft } from '../../parts/times.js';
import { listRows } from '../../state/lists.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import type { Tone } from '../../theme.js';

/** Width of the speaker column. */
export const NAME = 11;
/** Rows of a message that are shown before `v` expands it. Assistant messages are never folded. */
const FOLDED = 6;
const FOLDED_CALL = 2;

const TONES: Partial<Record<ConversationMessage['role'], Tone>> = {
  assistant: 'strong',
  tool: 'muted',
  system: 'muted',
};

/** Cached rows by message, valid for one layout. */
const drawn = new WeakMap<ConversationMessage, { key: string; rows: ScreenRow[] }>();

/** Messages of the agent's session, and its pending call, if there is one. */
export const transcriptRows = (state: State, agent: Agent, width: number): ScreenRow[] => {
  const { messages } = state.lists;
  const { isRaw, isWrapped } = topView(state.ui);
  const turns = messages.of === agent.sessionId ? listRows(messages) : [];
  return [
    ...turns.flatMap((message) => messageRows(message, { width, isRaw, isWrapped })),
    ...approvalRows(state, agent, width),
    ...(agent.error ? namedRows('error', agent.error, width, 'danger') : []),
  ];
};

interface EventShape {
  width: number;
  isRaw: boolean;
  isWrapped: boolean;
}

const messageRows = (message: ConversationMessage, shape: EventShape): ScreenRow[] => {
  const key = JSON.stringify(shape);
  const known = drawn.get(message);
  if (known?.key === key) return known.rows;
  const rows = rowsFor(message, shape);
  drawn.set(message, { key, rows });
  return rows;
};

const rowsFor = (
  { role, content, toolCalls = [] }: ConversationMessage,
  shape: EventShape,
): ScreenRow[] => {
  const isFolded = !shape.isRaw && role !== 'assistant';
  const turns =
    content === '' ? [] : namedRows(role, content, shape.width, TONES[role], shape.isWrapped);
  return [
    ...(isFolded ? folded(turns, FOLDED) : turns),
    ...toolCalls.flatMap((call) => callRows(call, shape)),
  ];
};

const callRows = (
  call: Readonly<Record<string, unknown>>,
  { width, isRaw }: EventShape,
): ScreenRow[] => {
  const text = `${String(call.name ?? '')}  ${JSON.stringify(call.arguments ?? {})}`;
  const rows = namedRows('call', text, width, 'info');
  return isRaw ? rows : folded(rows, FOLDED_CALL);
};

const folded = (rows: ScreenRow[], max: number): ScreenRow[] => {
  const more = rows.length - max;
  if (more <= 0) return rows;
  const turns = `… ${more} more ${more === 1 ? 'row' : 'rows'}: v expands`;
  return [...rows.slice(0, max), row(' '.repeat(NAME), tonedSpan('muted', turns))];
};

export const pendingCallOfAgent = ({ lists }: State, agent: Agent): Approval | null =>
  listRows(lists.approvals).find(
    ({ agentId, status }) => agentId === agent.id && status === 'pending',
  ) ?? null;

const approvalRows = (state: State, agent: Agent, width: number): ScreenRow[] => {
  const call = pendingCallOfAgent(state, agent);
  if (!call) return [];
  const text = `${call.tool}.${call.action}  expires in ${formatTimeLeft(call.expiresAt, state.session.now)}`;
  return [
    ...namedRows('approval', text, width, 'warn'),
    row(' '.repeat(NAME), '-- enter opens the approval: decide there --'),
  ];
};

export const namedRows = (
  name: string,
  text: string,
  width: number,
  tone: Tone | undefined,
  isWrapped = true,
): ScreenRow[] =>
  textRows(text, width - NAME, isWrapped).map((line, at) =>
    row(tonedSpan(tone, (at === 0 ? name : '').padEnd(NAME)), ...line),
  );
