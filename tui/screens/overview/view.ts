import type { Agent, Need } from '../../../src/client/index.js';
import { faceOf, facing } from '../../parts/faces.js';
import { abreast } from '../../parts/panes.js';
import { row, type ScreenRow, type Size, tonedSpan } from '../../parts/row.js';
import { type Cells, cellsOf, type ScreenColumn, tableRows } from '../../parts/table.js';
import { left, leftInWords, since, timeOfEvent } from '../../parts/times.js';
import { dollars } from '../../parts/words.js';
import { rowsOf } from '../../state/lists.js';
import { chosenAt } from '../../state/selection.js';
import type { State } from '../../state/state.js';
import type { StreamEntry } from '../../state/streams.js';
import { lookOf } from '../../state/ui.js';
import { toneOf } from '../../theme.js';
import { latestRuns, shownNeeds, standingOf } from './slice.js';
import { rateRows, statusRows } from './status.js';

/** From this size on there are three columns, and the bars of the rates have two rows. */
const WIDE: Size = { width: 120, height: 31 };
/** Height in rows below which the rates are left out. */
const TALL = 16;

export const isWide = ({ width, height }: Size): boolean =>
  width >= WIDE.width && height >= WIDE.height;

/** Shows the status, what needs the user, and what happens. */
export const overviewView = (state: State, size: Size): ScreenRow[] => {
  const { known, loadedAt, trouble } = state.overview;
  if (!known) {
    const list = { order: [], loadedAt, askedAt: null, trouble };
    const words = { ...facing(state.session, size), noun: 'overview', empty: [] };
    return faceOf(list, words) ?? [];
  }
  const rates = size.height < TALL ? [] : rateRows(known, isWide(size) ? 2 : 1);
  const head = [...statusRows(state, known, size.width), ...rates, []];
  const body = { width: size.width, height: size.height - head.length };
  return [...head, ...(isWide(size) ? columnRows(state, body) : stackedRows(state, body))];
};

const stackedRows = (state: State, { width, height }: Size): ScreenRow[] => {
  const most = Math.max(3, Math.floor(height * 0.55));
  const needs = needRows(state, { width, height: Math.min(shownNeeds(state).length + 1, most) });
  const live = liveRows(state, { width, height: height - needs.length - 1 });
  return [...needs, [], ...live].slice(0, Math.max(0, height));
};

const columnRows = (state: State, { width, height }: Size): ScreenRow[] =>
  abreast(
    [
      (size) => needRows(state, size),
      (size) => liveRows(state, size),
      (size) => agentRows(state, size),
    ],
    { width, height },
  );

const needColumns = ({ session }: State): ScreenColumn<Need>[] => [
  { head: 'KIND', text: ({ kind }) => kind, isState: true, least: 8, most: 8, rank: 0 },
  { head: 'WHAT', text: ({ title }) => title, least: 10, most: 24, rank: 0 },
  {
    head: 'TRUST',
    text: ({ untrusted }) => (untrusted ? 'UNTRUSTED' : ''),
    tone: () => 'untrusted',
    least: 9,
    most: 9,
    rank: 2,
  },
  {
    head: 'WHEN',
    text: (need) => whenOf(need, session.now),
    said: (need) =>
      need.kind === 'failed'
        ? whenOf(need, session.now)
        : `${leftInWords(need.at, session.now)} left`,
    least: 8,
    most: 16,
    rank: 1,
  },
  { head: 'DETAIL', text: ({ detail }) => detail, least: 12, most: 200, rank: 3 },
];

export const needCells = (state: State): Cells[] =>
  cellsOf(shownNeeds(state), needColumns(state), ({ id }) => id);

const whenOf = ({ kind, at }: Need, now: number): string =>
  kind === 'failed' ? `${since(at, now)} ago` : `${left(at, now)} left`;

/**
 * True if no part is in trouble, and the public address, if there is one, is known to be reachable.
 */
const isWell = ({ overview: { known } }: State): boolean =>
  known !== null && standingOf(known) === 'ok' && ['none', 'verified'].includes(known.reach);

const needRows = (state: State, size: Size): ScreenRow[] => {
  const title = row(tonedSpan('strong', 'Needs you'));
  const needs = shownNeeds(state);
  if (needs.length === 0) return [title, row(`  Nothing.${isWell(state) ? ' All is well.' : ''}`)];
  const at = chosenAt(needs, lookOf(state.ui).selected);
  const [, ...rows] = tableRows(needs, needColumns(state), size, { at });
  return [title, ...rows];
};

const liveRows = (state: State, { height }: Size): ScreenRow[] => {
  const runs = latestRuns(state, Math.max(0, height - 1));
  const title = row(tonedSpan('strong', 'Live'));
  if (runs.length === 0)
    return [title, row(tonedSpan('muted', '  no execution in the last minutes'))];
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
    tonedSpan(toneOf(status), status.padEnd(11)),
    `  ${hook.slice(0, 24).padEnd(16)}  ${word('event').slice(0, 24)}  `,
    word('error'),
  );
};

const agentColumns: ScreenColumn<Agent>[] = [
  { head: 'NAME', text: ({ name }) => name, least: 10, most: 24, rank: 0 },
  { head: 'STATE', text: ({ status }) => status, isState: true, least: 9, most: 16, rank: 0 },
  { head: 'STEP', text: ({ steps }) => String(steps), isNumber: true, least: 4, most: 4, rank: 2 },
  {
    head: 'COST',
    text: ({ usage }) => dollars(usage.costUsd),
    isNumber: true,
    least: 5,
    most: 8,
    rank: 1,
  },
];

const agentRows = ({ lists }: State, size: Size): ScreenRow[] => {
  const title = row(tonedSpan('strong', 'Agents'));
  const agents = rowsOf(lists.agents);
  if (agents.length === 0) return [title, row(tonedSpan('muted', '  none yet'))];
  const [, ...rows] = tableRows(agents.slice(0, size.height), agentColumns, size, { at: -1 });
  return [title, ...rows];
};
