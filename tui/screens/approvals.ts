import type { Approval, Client } from '../../src/client/index.js';
import type { Acts, ScreenPage } from '../page.js';
import { MAX_MEASURED_LENGTH, row, type ScreenRow, tonedSpan } from '../parts/row.js';
import { column, stateColumn } from '../parts/table.js';
import { countedNoun, MAX_CHARACTERS, textRows } from '../parts/text.js';
import { formatTimeLeft, timeLeftInWords, timeOfEvent } from '../parts/times.js';
import { type Act, actTarget } from '../state/act.js';
import { computeBodySize } from '../state/layout.js';
import { listRows } from '../state/lists.js';
import { agentTarget } from '../state/locations.js';
import type { State } from '../state/state.js';
import { topView } from '../state/ui.js';
import { findStateTone } from '../theme.js';
import { listPage } from './list.js';

/** Time after a question has appeared in which keys have no effect, in milliseconds. */
const DEAD_MS = 700;
/** Interval at which the number of waiting pipeline stages is loaded, in milliseconds. */
const OVERVIEW_MS = 10_000;
type LastingScope = Exclude<Approval['scopes'][number], 'once'>;

const NAME = 12;

export const callName = ({ tool, action }: Approval): string => `${tool}.${action}`;
/** Part of the digest that a user compares. */
const shortenDigest = ({ digest }: Approval): string => digest.slice(0, 8);
export const approvalTrust = ({ untrusted }: Approval): string =>
  untrusted ? 'UNTRUSTED' : 'trusted';

/**
 * Pending approvals, oldest first, so that a new one is added at the end. With `isMore` the decided
 * ones follow. The selected one stays in place when it is decided elsewhere: another must never
 * take its place while it is read.
 */
const shownApprovals = (state: State): Approval[] => {
  const { isMore, selected } = topView(state.ui);
  const all = listRows(state.lists.approvals).sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  const waiting = all.filter(({ id, status }) => status === 'pending' || id === selected);
  const decided = all.filter(({ id, status }) => status !== 'pending' && id !== selected);
  return isMore ? [...waiting, ...decided.reverse()] : waiting;
};

export const countPendingApprovals = (state: State): number => {
  const { approvals } = state.lists;
  if (approvals.loadedAt === null) return state.overview.known?.agents.waitingApproval ?? 0;
  return approvals.order.filter((id) => approvals.byId[id]?.status === 'pending').length;
};

/** `null` if no stage waits. */
export const waitingStagesText = ({ overview: { known } }: State): string | null => {
  const count = known?.pipelines.waiting ?? 0;
  if (count === 0) return null;
  return `${countedNoun(count, 'pipeline stage')} ${count === 1 ? 'waits' : 'wait'} for you`;
};

export const agentName = (state: State, { agentId }: Approval): string => {
  if (agentId === null) return 'a direct call';
  return state.lists.agents.byId[agentId]?.name ?? `agent …${agentId.slice(-6)}`;
};

/** The exact call in full, wrapped and never cut. Every invisible character is made visible. */
const callRows = (state: State, approval: Approval, width: number): ScreenRow[] => [
  row(
    tonedSpan('strong', callName(approval)),
    `   digest ${shortenDigest(approval)}   `,
    tonedSpan(approval.untrusted ? 'untrusted' : undefined, approvalTrust(approval)),
  ),
  ...approval.details.flatMap(({ name, value }) => namedValueRows(name, value, width)),
  ...argumentRows(approval, width),
  ...namedValueRows('Reason', approval.reason, width),
  ...namedValueRows('Agent', agentName(state, approval), width),
  [],
  ...textRows(approvalStateText(approval, state.session.now), width, true),
];

const argumentRows = ({ arguments: args }: Approval, width: number): ScreenRow[] => {
  const entries = Object.entries(args);
  if (entries.length === 0) return [row('  no arguments')];
  return entries.flatMap(([name, value]) => namedValueRows(`  ${name}`, valueText(value), width));
};

const valueText = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((each) => valueText(each)).join('\n');
  return JSON.stringify(value, null, 2);
};

/** In code points. Each has at most two UTF-16 units. */
const LONG_PIECE = new RegExp(`[^\\n]{${MAX_MEASURED_LENGTH / 2}}(?=[^\\n])`, 'gu');

/** Breaks lines that a row would cut, since a call is shown in full before it is approved. */
const inPieces = (text: string): string => text.replace(LONG_PIECE, '$&\n');

/** A name with its value beside it, or below it if the name is long. Nothing is cut. */
const namedValueRows = (name: string, value: string, width: number): ScreenRow[] => {
  const lines = textRows(inPieces(value), Math.max(8, width - NAME), true);
  const space = ' '.repeat(NAME);
  if (name.length >= NAME) {
    return [
      ...textRows(inPieces(name), width, true, 'muted'),
      ...lines.map((line) => row(space, ...line)),
    ];
  }
  return lines.map((line, at) =>
    row(tonedSpan('muted', at === 0 ? name.padEnd(NAME) : space), ...line),
  );
};

const approvalStateText = (
  { status, expiresAt, decidedAt, decisionReason }: Approval,
  now: number,
): string => {
  if (status === 'pending') {
    return `Nothing has run. Without a decision it is denied at ${timeOfEvent(expiresAt, now)}.`;
  }
  const when = decidedAt === null ? '' : ` ${timeOfEvent(decidedAt, now)}`;
  return `${status}${when}${decisionReason === null ? '' : `: ${decisionReason}`}`;
};

const isPending = ({ status }: Approval): boolean => status === 'pending';

/** Remaining time, decision, or action in progress. */
const formatApprovalExpiry = ({ lists, session }: State, approval: Approval): string =>
  lists.approvals.busy[approval.id] ??
  (isPending(approval) ? formatTimeLeft(approval.expiresAt, session.now) : approval.status);

/** Whether the last line of the selected call is or was on screen. */
const isRead = (state: State, { digest }: Approval): boolean => {
  const size = computeBodySize(state);
  const text = approvalsPage.text?.(state, size.width);
  const seen = topView(state.ui).scroll + (approvalsPage.textHeight?.(state, size) ?? 0);
  return state.approvals.seen.includes(digest) || (text ? seen >= text.length : false);
};

const isCut = (approval: Approval): boolean =>
  Object.values(approval.arguments).some((value) => valueText(value).length > MAX_CHARACTERS);

const UNREAD = 'Scroll to the end of the call first: tab, then j';
const CUT = 'The call is too long to show here. Use the command adjutant approvals get';

/** Approving requires that the last line is or was on screen. Denying does not. */
const approvalActs = (approval: Approval, state: State): Acts => {
  if (!isPending(approval)) return {};
  const { id: approvalId, digest } = approval;
  const what = `${callName(approval)} ${shortenDigest(approval)}`;
  const requester = agentName(state, approval);
  const base = (approved: boolean, scope?: LastingScope) => ({
    ...actTarget('approvals', approvalId),
    guard: digest,
    call: async (client: Client) => {
      const body = { approvalId, digest, approved, ...(scope && { scope }) };
      const decided = await client.approvals.approve({ body });
      return `${decided.status}: ${what}`;
    },
  });
  const approving = (lines: string[], scope?: LastingScope): Act => ({
    ...base(true, scope),
    text: `Approve ${what}${scope ? ` (${scope})` : ''}`,
    line: `adjutant approvals approve ${shortenDigest(approval)}${scope ? ` --scope ${scope}` : ''}`,
    doing: 'approving…',
    ask: { lines, deadMs: DEAD_MS },
    ...(!isRead(state, approval) && { refusal: UNREAD }),
    ...(isCut(approval) && { refusal: CUT }),
  });
  return {
    approve: approving([`Approve ${what} for ${requester}, once, exactly as shown?`]),
    ...(approval.scopes.includes('conversation') && {
      'approve-conversation': approving(
        [
          `Approve ${what} for ${requester}, and later calls of this tool`,
          ...conversationLines(approval),
        ],
        'conversation',
      ),
    }),
    ...(approval.scopes.includes('host') && {
      'approve-host': approving(
        [`Approve ${what} for ${requester}, and for 30 days requests`, ...hostLines(approval)],
        'host',
      ),
    }),
    stop: {
      ...base(false),
      text: `Deny ${what}`,
      line: `adjutant approvals deny ${shortenDigest(approval)}`,
      doing: 'denying…',
      ask: { lines: [`Deny ${what} for ${requester}? The agent is notified.`], deadMs: DEAD_MS },
    },
  };
};

/** Origin in the arguments of a call. Empty if there is none. */
const getCallOrigin = ({ arguments: { url } }: Approval): string =>
  typeof url === 'string' && URL.canParse(url) ? new URL(url).origin : '';

/** Scope of an approval for the conversation, besides the call. */
const conversationLines = (approval: Approval): string[] => {
  const origin = getCallOrigin(approval);
  const where = origin === '' ? '' : `to ${origin} `;
  return [`${where}in this conversation?`, ...limits(approval)];
};

/** Scope of an approval for the host, besides the call. */
const hostLines = (approval: Approval): string[] => [
  `with this method to ${getCallOrigin(approval)}, from this hook or conversation?`,
  ...limits(approval),
];

/** Calls of an untrusted agent that no standing approval covers. */
const limits = ({ untrusted }: Approval): string[] =>
  untrusted ? ['The agent is untrusted: URLs with a query string still need approval.'] : [];

export const approvalsPage: ScreenPage = listPage<Approval>({
  name: 'approvals',
  title: 'Approvals',
  noun: 'approval',
  list: 'approvals',
  rows: shownApprovals,
  item: (approval) => ({
    id: approval.id,
    name: callName(approval),
    words: `${approvalTrust(approval)} ${approval.reason} ${approval.status}`,
    facts: {
      status: approval.status,
      tool: approval.tool,
      trust: approvalTrust(approval).toLowerCase(),
    },
  }),
  columns: (state) => [
    {
      ...stateColumn<Approval>('EXPIRES', [8, 11, 0], (each) => formatApprovalExpiry(state, each)),
      said: (each) =>
        isPending(each)
          ? `in ${timeLeftInWords(each.expiresAt, state.session.now)}`
          : formatApprovalExpiry(state, each),
    },
    column('TOOL', [10, 30, 0], callName),
    column('AGENT', [10, 30, 2], (approval) => agentName(state, approval)),
    {
      ...column('TRUST', [9, 9, 1], approvalTrust),
      tone: ({ untrusted }) => (untrusted ? 'untrusted' : undefined),
    },
    column('REASON', [13, 200, 3], ({ reason }) => reason),
  ],
  detail: callRows,
  end: (approval, hidden) => {
    if (hidden > 0) {
      return tonedSpan(
        'warn',
        `-- ${hidden} more rows: tab, then j. Read all of them to approve. --`,
      );
    }
    if (isCut(approval)) return tonedSpan('warn', `${CUT}.`);
    const { status } = approval;
    return tonedSpan(
      findStateTone(status === 'pending' ? 'ok' : status),
      'The whole call is shown.',
    );
  },
  empty: (state) => {
    const stages = waitingStagesText(state);
    return [
      'No pending approvals.',
      'Calls that need your approval are shown here in full before they run.',
      ...(stages === null ? [] : [`${stages}: g p opens the pipelines`]),
      '  .  include decided ones      adjutant help approvals',
    ];
  },
  acts: approvalActs,
  related: ({ agentId }) => (agentId ? agentTarget(agentId) : null),
  noticed: (approval, state) =>
    !state.approvals.seen.includes(approval.digest) && isRead(state, approval)
      ? { type: 'approval.seen', digest: approval.digest }
      : null,
  summary: (state) => {
    const waiting = countPendingApprovals(state);
    return `${waiting} pending`;
  },
  glossary: [
    ['UNTRUSTED', 'the agent has read external input'],
    ['digest', 'identifies this exact call; the approval covers no other'],
  ],
  needs: () => [
    { is: 'list', list: 'agents' },
    { is: 'overview', everyMs: OVERVIEW_MS },
  ],
});
