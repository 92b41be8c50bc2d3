import type { ApprovalReply } from '../../../src/client/index.js';
import type { ActVerb } from '../../keys.js';
import type { Item } from '../../page.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { textRows } from '../../parts/text.js';
import { timeOfEvent } from '../../parts/times.js';
import type { Act } from '../../state/act.js';
import { rowsOf } from '../../state/lists.js';
import type { State } from '../../state/state.js';
import { lookOf } from '../../state/ui.js';

/** The data and the acts of the page of approvals; pure. */

/** Time after a question has appeared in which keys have no effect, in milliseconds. */
const DEAD_MS = 700;

export const callName = ({ tool, action }: ApprovalReply): string => `${tool}.${action}`;
/** Returns the part of the digest that a user compares. */
const shortOf = ({ digest }: ApprovalReply): string => digest.slice(0, 8);
export const approvalTrust = ({ untrusted }: ApprovalReply): string =>
  untrusted ? 'UNTRUSTED' : 'trusted';

/**
 * Returns the approvals that wait, the oldest first, so that a new one is added at the end. With
 * `isMore` the decided ones follow. The selected one stays in place when it is decided elsewhere:
 * another must never take the place of one that the user is reading.
 */
export const shownApprovals = (state: State): ApprovalReply[] => {
  const { isMore, selected } = lookOf(state.ui);
  const all = rowsOf(state.lists.approvals).sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  const waiting = all.filter(({ id, status }) => status === 'pending' || id === selected);
  const decided = all.filter(({ id, status }) => status !== 'pending' && id !== selected);
  return isMore ? [...waiting, ...decided.reverse()] : waiting;
};

export const approvalItems = (state: State): Item[] =>
  shownApprovals(state).map((approval) => ({
    id: approval.id,
    name: callName(approval),
    words: `${approvalTrust(approval)} ${approval.reason} ${approval.status}`,
    facts: {
      status: approval.status,
      tool: approval.tool,
      trust: approvalTrust(approval).toLowerCase(),
    },
  }));

/** Returns how many approvals wait. */
export const waitingOf = (state: State): number => {
  const { approvals } = state.lists;
  if (approvals.loadedAt === null) return state.overview.known?.agents.waitingApproval ?? 0;
  return approvals.order.filter((id) => approvals.byId[id]?.status === 'pending').length;
};

export const agentName = (state: State, { agentId }: ApprovalReply): string => {
  if (agentId === null) return 'a direct call';
  return state.lists.agents.byId[agentId]?.name ?? `agent …${agentId.slice(-6)}`;
};

/**
 * Returns the exact call in full: each argument under its name, each member of a list on a line of
 * its own. The text is wrapped and never cut, and every invisible character is made visible.
 */
export const callRows = (state: State, approval: ApprovalReply, width: number): ScreenRow[] => [
  row(
    tonedSpan('strong', callName(approval)),
    `   digest ${shortOf(approval)}   `,
    tonedSpan(approval.untrusted ? 'untrusted' : undefined, approvalTrust(approval)),
  ),
  ...argumentRows(approval, width),
  ...named('Because', approval.reason, width),
  ...named('Agent', agentName(state, approval), width),
  [],
  ...textRows(standing(approval, state.session.now), width, true),
];

const argumentRows = ({ arguments: given }: ApprovalReply, width: number): ScreenRow[] => {
  const entries = Object.entries(given);
  if (entries.length === 0) return [row('  without arguments')];
  return entries.flatMap(([name, value]) => named(`  ${name}`, valueText(value), width));
};

const valueText = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((each) => valueText(each)).join('\n');
  return JSON.stringify(value, null, 2);
};

const NAME = 12;

/** Returns a name with its value beside it, or below it if the name is long; nothing is cut. */
const named = (name: string, value: string, width: number): ScreenRow[] => {
  const lines = textRows(value, Math.max(8, width - NAME), true);
  const space = ' '.repeat(NAME);
  if (name.length >= NAME) {
    return [...textRows(name, width, true, 'muted'), ...lines.map((line) => row(space, ...line))];
  }
  return lines.map((line, at) =>
    row(tonedSpan('muted', at === 0 ? name.padEnd(NAME) : space), ...line),
  );
};

const standing = (
  { status, expiresAt, decidedAt, decisionReason }: ApprovalReply,
  now: number,
): string => {
  if (status === 'pending') {
    return `Nothing has run. No answer means denied at ${timeOfEvent(expiresAt, now)}.`;
  }
  const when = decidedAt === null ? '' : ` ${timeOfEvent(decidedAt, now)}`;
  return `${status}${when}${decisionReason === null ? '' : `: ${decisionReason}`}`;
};

/**
 * Returns the acts on an approval. To approve it, its last line must be or have been on screen; to
 * deny it, it need not.
 */
export const approvalActs = (
  state: State,
  approval: ApprovalReply,
  isRead: boolean,
): Partial<Record<ActVerb, Act>> => {
  if (approval.status !== 'pending') return {};
  const base = {
    row: { list: 'approvals' as const, id: approval.id },
    touches: ['approvals'] as const,
    guard: approval.digest,
  };
  const what = `${callName(approval)} ${shortOf(approval)}`;
  const whom = agentName(state, approval);
  const answer =
    (approved: boolean): Act['call'] =>
    async (client) => {
      const { id: approvalId, digest } = approval;
      const decided = await client.approvals.approve({ body: { approvalId, digest, approved } });
      return `${decided.status}: ${what}`;
    };
  return {
    approve: {
      ...base,
      text: `Approve ${what}`,
      line: `adjutant approvals approve ${shortOf(approval)}`,
      doing: 'approving…',
      call: answer(true),
      ask: { lines: [`Approve ${what} for ${whom}, once, exactly as shown?`], deadMs: DEAD_MS },
      ...(!isRead && { refusal: 'Read the call to its end first: tab, then j' }),
    },
    stop: {
      ...base,
      text: `Deny ${what}`,
      line: `adjutant approvals deny ${shortOf(approval)}`,
      doing: 'denying…',
      call: answer(false),
      ask: { lines: [`Deny ${what} for ${whom}? The agent is told.`], deadMs: DEAD_MS },
    },
  };
};
