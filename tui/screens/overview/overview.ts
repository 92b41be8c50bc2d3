import type { Agent, Need } from '../../../src/client/index.js';
import type { ScreenPage } from '../../page.js';
import { emptyStateRows } from '../../parts/emptystate.js';
import { sideBySide } from '../../parts/panes.js';
import { row, type ScreenRow, type Size, tonedSpan } from '../../parts/row.js';
import {
  column,
  numberColumn,
  type ScreenColumn,
  stateColumn,
  tableRows,
  uncutColumn,
} from '../../parts/table.js';
import { formatDollars } from '../../parts/text.js';
import { formatAge, formatTimeLeft, timeLeftInWords, timeOfEvent } from '../../parts/times.js';
import { computeBodySize } from '../../state/layout.js';
import { listRows } from '../../state/lists.js';
import {
  hookTarget,
  type JumpTarget,
  mailAccountTarget,
  rowTarget,
  runTarget,
  sentMailTarget,
  taskTarget,
} from '../../state/locations.js';
import type { State } from '../../state/state.js';
import { EXECUTIONS, getStreamRing, type StreamEntry } from '../../state/streams.js';
import { findStateTone } from '../../theme.js';
import { rowsFor } from '../list.js';
import { rateRows, statusRows, worstStatus } from './status.js';

const EVERY_MS = 2000;
const SLOW_MS = 30_000;
/** Minimum size for three columns and two rows of rate bars. */
const WIDE: Size = { width: 120, height: 31 };
/** Share of a row up to which the title is not cut. */
const NAME_SHARE = 0.55;
/** Proportions of the three columns, and the width of the third if it is empty. */
const SHARES = { needs: 5, live: 4, agents: 3 };
const NO_AGENTS = 10;
const GAP = 3;
/** Minimum height in rows for the rates. */
const TALL = 16;

const isWide = ({ width, height }: Size): boolean => width >= WIDE.width && height >= WIDE.height;

const isPast = ({ kind, at }: Need, now: number): boolean =>
  ['failed', 'memory', 'recurring', 'mailbox', 'mail'].includes(kind) ||
  (kind === 'task' && Date.parse(at) < now);

const formatNeedTime = (need: Need, now: number): string =>
  isPast(need, now) ? `${formatAge(need.at, now)} ago` : `${formatTimeLeft(need.at, now)} left`;

const trustColumn: ScreenColumn<Need> = {
  ...column<Need>('TRUST', [9, 9, 2], ({ untrusted }) => (untrusted ? 'UNTRUSTED' : '')),
  tone: () => 'untrusted',
};

const needColumns = ({ session: { now }, overview }: State): ScreenColumn<Need>[] => [
  stateColumn('KIND', [8, 9, 0], ({ kind }) => kind),
  uncutColumn(
    column('WHAT', [10, 120, 0], ({ title }) => title),
    NAME_SHARE,
  ),
  ...(overview.known?.needs.some(({ untrusted }) => untrusted) ? [trustColumn] : []),
  {
    ...uncutColumn(column<Need>('WHEN', [8, 16, 1], (need) => formatNeedTime(need, now))),
    said: (need) =>
      isPast(need, now) ? formatNeedTime(need, now) : `${timeLeftInWords(need.at, now)} left`,
  },
  { ...column<Need>('DETAIL', [12, 200, 3], ({ detail }) => detail), isUncut: true },
];

const needs = rowsFor<Need>({
  rows: ({ overview }) => overview.known?.needs ?? [],
  item: ({ id, kind, title, detail, untrusted }) => ({
    id,
    name: title,
    words: `${kind} ${detail} ${untrusted ? 'untrusted' : ''}`,
    facts: { kind },
  }),
  columns: needColumns,
});

/** Key of the waiting stage: the title is the run and its stage. */
const parseStageKey = ({ title }: Need): string => title.slice(title.lastIndexOf(': ') + 2);

const needGoal = (state: State): JumpTarget | null => {
  const need = needs.chosen(state);
  if (!need) return null;
  const { kind, id, hookId } = need;
  if (kind === 'approval') return rowTarget('approvals', id);
  if (kind === 'expiring') return rowTarget('vault', id);
  // The detail says what to do, or what went wrong.
  if (kind === 'memory' || kind === 'recurring') return null;
  if (kind === 'mailbox') return mailAccountTarget(id);
  if (kind === 'mail') return sentMailTarget(id);
  if (kind === 'stage') return runTarget(id, parseStageKey(need));
  if (kind === 'task') return taskTarget(id);
  return hookId === null ? { root: 'hooks', places: [] } : hookTarget(hookId, id);
};

const latestRuns = ({ streams }: State, maxRows: number): StreamEntry[] => {
  const runs = new Map<unknown, StreamEntry>();
  const { entries } = getStreamRing(streams, EXECUTIONS);
  for (let at = entries.length - 1; at >= 0 && runs.size < maxRows; at--) {
    const entry = entries[at];
    if (entry && !runs.has(entry.data.id)) runs.set(entry.data.id, entry);
  }
  return [...runs.values()];
};

const overviewView = (state: State, size: Size): ScreenRow[] => {
  const { known, loadedAt, trouble } = state.overview;
  if (!known) {
    const list = { loadedAt, askedAt: null, trouble };
    return emptyStateRows(list, { noun: 'overview', empty: [] }, state, size);
  }
  const rates = size.height < TALL ? [] : rateRows(known, isWide(size) ? 2 : 1);
  const head = [...statusRows(state, known, size.width), ...rates, []];
  const body = { width: size.width, height: size.height - head.length };
  return [...head, ...(isWide(size) ? columnRows(state, body) : stackedRows(state, body))];
};

const stackedRows = (state: State, { width, height }: Size): ScreenRow[] => {
  const maxRows = Math.max(3, Math.floor(height * 0.55));
  const asking = needRows(state, {
    width,
    height: Math.min(needs.shown(state).length + 1, maxRows),
  });
  const live = liveRows(state, { width, height: height - asking.length - 1 });
  return [...asking, [], ...live].slice(0, Math.max(0, height));
};

const columnRows = (state: State, { width, height }: Size): ScreenRow[] => {
  const room = width - 2 * GAP;
  const all = SHARES.needs + SHARES.live + SHARES.agents;
  const none = state.lists.agents.order.length === 0;
  const agentsWidth = none ? NO_AGENTS : Math.floor((room * SHARES.agents) / all);
  const live = Math.floor(((room - agentsWidth) * SHARES.live) / (SHARES.needs + SHARES.live));
  return sideBySide(
    [
      { width: room - agentsWidth - live, view: (size) => needRows(state, size) },
      { width: live, view: (size) => liveRows(state, size) },
      { width: agentsWidth, view: (size) => agentRows(state, size) },
    ],
    height,
  );
};

/** Whether all parts work and the public address, if any, is verified. */
const isWell = ({ overview: { known } }: State): boolean =>
  known !== null && worstStatus(known) === 'ok' && ['none', 'verified'].includes(known.reach);

const needRows = (state: State, size: Size): ScreenRow[] => {
  const title = row(tonedSpan('strong', 'Needs you'));
  const shown = needs.shown(state);
  if (shown.length === 0)
    return [title, row(`  Nothing.${isWell(state) ? ' All checks pass.' : ''}`)];
  const [, ...rows] = tableRows(shown, needColumns(state), size, { at: needs.at(state) });
  return [title, ...rows];
};

const liveRows = (state: State, { height }: Size): ScreenRow[] => {
  const runs = latestRuns(state, Math.max(0, height - 1));
  const title = row(tonedSpan('strong', 'Live'));
  if (runs.length === 0) return [title, row(tonedSpan('muted', '  no recent executions'))];
  return [title, ...runs.map((entry) => liveRow(state, entry))];
};

const liveRow = ({ lists, session }: State, { at, kind, data }: StreamEntry): ScreenRow => {
  const word = (name: string): string => {
    const value = data[name];
    return typeof value === 'string' ? value : '';
  };
  const hook = word('hookName') || lists.hooks.byId[word('hookId')]?.name || '';
  const status = kind === 'error' ? 'ERROR' : kind;
  return row(
    tonedSpan('muted', `${timeOfEvent(at, session.now)}  `),
    tonedSpan(findStateTone(status), status.padEnd(11)),
    `  ${hook.slice(0, 24).padEnd(16)}  ${word('event').slice(0, 24)}  `,
    word('error'),
  );
};

const agentColumns: ScreenColumn<Agent>[] = [
  column('NAME', [10, 24, 0], ({ name }) => name),
  stateColumn('STATE', [9, 16, 0], ({ status }) => status),
  numberColumn('STEP', [4, 4, 2], ({ steps }) => String(steps)),
  numberColumn('COST', [5, 8, 1], ({ usage }) => formatDollars(usage.costUsd)),
];

const agentRows = ({ lists }: State, size: Size): ScreenRow[] => {
  const title = row(tonedSpan('strong', 'Agents'));
  const agents = listRows(lists.agents);
  if (agents.length === 0) return [title, row(tonedSpan('muted', '  none yet'))];
  const [, ...rows] = tableRows(agents.slice(0, size.height), agentColumns, size, { at: -1 });
  return [title, ...rows];
};

export const overviewPage: ScreenPage = {
  name: 'overview',
  title: 'Overview',
  tabs: [],
  items: needs.items,
  opens: needGoal,
  related: needGoal,
  summary: (state) => {
    const { length } = needs.items(state);
    return `${length} ${length === 1 ? 'needs' : 'need'} you`;
  },
  glossary: [
    ['expiring', 'a credential that expires within a week'],
    ['task', 'a task that is overdue or due today'],
    ['stage', 'a pipeline stage that waits for your answer'],
    ['memory', 'a memory that needs your confirmation'],
    ['mailbox', 'a mail account that does not work'],
    ['mail', 'an e-mail that was not sent, or may not have been sent'],
    ['queue', 'stored deliveries that have not run yet'],
  ],
  needs: (state) => [
    { is: 'overview', everyMs: EVERY_MS },
    { is: 'channel', channel: 'hook.execution' },
    { is: 'list', list: 'hooks', everyMs: SLOW_MS },
    ...(isWide(computeBodySize(state))
      ? [{ is: 'list' as const, list: 'agents' as const, everyMs: EVERY_MS }]
      : []),
  ],
  view: overviewView,
  cells: needs.cells,
  head: (state) => {
    const { known } = state.overview;
    return known ? statusRows(state, known, computeBodySize(state).width) : [];
  },
};
