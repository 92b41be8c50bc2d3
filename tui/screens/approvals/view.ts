import type { ApprovalReply } from '../../../src/client/index.js';
import { faceOf, facing } from '../../parts/faces.js';
import { joinPanes, panesOf } from '../../parts/panes.js';
import { row, type ScreenRow, type Size, tonedSpan } from '../../parts/row.js';
import { type Cells, cellsOf, type ScreenColumn, tableRows } from '../../parts/table.js';
import { scrolled } from '../../parts/text.js';
import { left, leftInWords } from '../../parts/times.js';
import { chosenAt, fits } from '../../state/selection.js';
import type { State } from '../../state/state.js';
import { lookOf } from '../../state/ui.js';
import { toneOf } from '../../theme.js';
import {
  agentName,
  approvalItems,
  approvalTrust,
  callName,
  callRows,
  shownApprovals,
} from './slice.js';

const EMPTY = [
  'Nothing waits for you.',
  'A call that an agent may not make by itself comes here, whole, before it runs.',
  '  .  decided ones too      adjutant help approvals',
];

const columns = (state: State): ScreenColumn<ApprovalReply>[] => [
  {
    head: 'EXPIRES',
    text: (approval) => standing(state, approval),
    said: (approval) =>
      approval.status === 'pending'
        ? `in ${leftInWords(approval.expiresAt, state.session.now)}`
        : standing(state, approval),
    isState: true,
    least: 8,
    most: 11,
    rank: 0,
  },
  { head: 'TOOL', text: callName, least: 10, most: 30, rank: 0 },
  { head: 'AGENT', text: (approval) => agentName(state, approval), least: 10, most: 30, rank: 2 },
  {
    head: 'TRUST',
    text: approvalTrust,
    tone: ({ untrusted }) => (untrusted ? 'untrusted' : undefined),
    least: 9,
    most: 9,
    rank: 1,
  },
  { head: 'ASKED BECAUSE', text: ({ reason }) => reason, least: 13, most: 200, rank: 3 },
];

const standing = ({ lists, session }: State, { id, status, expiresAt }: ApprovalReply): string => {
  const busy = lists.approvals.busy[id];
  if (busy) return busy;
  return status === 'pending' ? left(expiresAt, session.now) : status;
};

export const approvalCells = (state: State): Cells[] =>
  cellsOf(filtered(state), columns(state), ({ id }) => id);

/** Shows the list, and the selected call in full. */
export const approvalsView = (state: State, size: Size): ScreenRow[] => {
  const shown = filtered(state);
  const { approvals } = state.lists;
  const order = shown.map(({ id }) => id);
  const words = { ...facing(state.session, size), noun: 'approvals', empty: EMPTY };
  const face = faceOf({ ...approvals, order }, words);
  if (face) return face;
  const look = lookOf(state.ui);
  const panes = panesOf(size, look, shown.length + 1);
  const at = chosenAt(shown, look.selected);
  const list = tableRows(shown, columns(state), panes.list, { at, isQuiet: look.pane === 1 });
  const chosen = shown[at];
  if (!chosen || !panes.detail) return list;
  const whole = callRows(state, chosen, panes.detail.width);
  const { height } = panes.detail;
  const call = scrolled(whole, look.scroll, { ...panes.detail, height: height - 1 });
  const rest = whole.length - look.scroll - (height - 1);
  const end =
    rest > 0
      ? tonedSpan('warn', `-- ${rest} more rows: tab, then j. Nothing is approved unread. --`)
      : tonedSpan(
          toneOf(chosen.status === 'pending' ? 'ok' : chosen.status),
          'The whole call is shown.',
        );
  return joinPanes(panes, list, [...call, row(end)]);
};

const filtered = (state: State): ApprovalReply[] => {
  const { filter } = lookOf(state.ui);
  const ids = new Set(
    approvalItems(state)
      .filter((item) => filter === '' || fits(item, filter))
      .map(({ id }) => id),
  );
  return shownApprovals(state).filter(({ id }) => ids.has(id));
};

/** Returns the selected approval; null if there is none. */
export const chosenCall = (state: State): ApprovalReply | null => {
  const shown = filtered(state);
  return shown[chosenAt(shown, lookOf(state.ui).selected)] ?? null;
};

/** Returns the rows of the selected call, in the width that it has. */
export const callText = (state: State, width: number, height: number): ScreenRow[] | null => {
  const chosen = chosenCall(state);
  const { detail } = panesOf({ width, height }, lookOf(state.ui), filtered(state).length + 1);
  return chosen && detail ? callRows(state, chosen, detail.width) : null;
};

/** Returns how many rows of the call are visible at once. */
export const callHeight = (state: State, size: Size): number => {
  const { detail } = panesOf(size, lookOf(state.ui), filtered(state).length + 1);
  return Math.max(0, (detail?.height ?? 0) - 1);
};
