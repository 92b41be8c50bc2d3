import { faceOf, facing } from '../../parts/faces.js';
import { type Row, row, type Size, toned } from '../../parts/row.js';
import { type Column, tableRows } from '../../parts/table.js';
import { left, since, timeOfDay, uptime } from '../../parts/times.js';
import { chosenAt, fits } from '../../state/chosen.js';
import { EXECUTIONS } from '../../state/live.js';
import type { Need, Overview } from '../../state/overview.js';
import type { State } from '../../state/state.js';
import { type Entry, ringOf } from '../../state/streams.js';
import { lookOf } from '../../state/ui.js';
import { toneOf } from '../../theme.js';
import { needItems } from './slice.js';

/** How it is, what needs the person, and what happens. */
export const overviewView = (state: State, size: Size): Row[] => {
  const { known, loadedAt, trouble } = state.overview;
  if (!known) {
    const list = { order: [], loadedAt, askedAt: null, trouble };
    const words = { ...facing(state.session, size), noun: 'overview', empty: [] };
    return faceOf(list, words) ?? [];
  }
  const head = [...statusRows(state, known, size.width), []];
  const left = Math.max(4, size.height - head.length);
  const shown = shownNeeds(state, known);
  const needsHeight = Math.min(shown.length + 2, Math.max(3, Math.floor(left * 0.55)));
  const needs = needRows(state, shown, { width: size.width, height: needsHeight });
  const space = size.height - head.length - needs.length - 1;
  return [...head, ...needs, [], ...liveRows(state, { width: size.width, height: space })];
};

const statusRows = (state: State, known: Overview, width: number): Row[] => {
  const { counts } = known;
  const fact = (name: string, status: string, text: string): Row =>
    row(
      name.padEnd(9),
      toned(toneOf(status), (status === 'ok' ? 'ok' : status.toUpperCase()).padEnd(6)),
      text,
    );
  const failing = known.parts.filter(({ status }) => status !== 'ok');
  const parts = known.parts.map(({ name }) => name).join(' ');
  const rows = [
    fact(
      'Health',
      known.status,
      `up ${uptime(known.uptimeSeconds)}   ${failing.length === 0 ? `all of: ${parts}` : failing.map(({ name, detail }) => `${name}: ${detail}`).join('   ')}`,
    ),
    fact(
      'Hooks',
      'ok',
      `${counts.hooks - counts.disabled} enabled, ${counts.disabled} disabled   ${counts.runs.toLocaleString('en')} executions`,
    ),
    fact('Agents', 'ok', `${counts.running} at work, ${counts.agents} listed`),
    fact('Inbox', known.unread > 0 ? 'new' : 'ok', `${known.unread} unread`),
  ];
  const { trouble, loadedAt } = state.overview;
  if (!trouble || loadedAt === null) return rows;
  const stale = `as of ${timeOfDay(loadedAt, state.session.now)}: ${trouble.message}`;
  return [...rows, row(toned('warn', stale.slice(0, width)))];
};

const shownNeeds = (state: State, known: Overview): Need[] => {
  const { filter } = lookOf(state.ui);
  const ids = new Set(
    needItems(state)
      .filter((item) => filter === '' || fits(item, filter))
      .map(({ id }) => id),
  );
  return known.needs.filter(({ id }) => ids.has(id));
};

const columns = ({ session }: State): Column<Need>[] => [
  { head: 'KIND', text: ({ kind }) => kind, isState: true, least: 8, most: 12, rank: 0 },
  { head: 'WHAT', text: ({ what }) => what, least: 10, most: 24, rank: 0 },
  { head: 'NAME', text: ({ name }) => name, least: 10, most: 60, rank: 1 },
  {
    head: 'TRUST',
    text: ({ isUntrusted }) => (isUntrusted ? 'UNTRUSTED' : ''),
    tone: () => 'untrusted',
    least: 9,
    most: 9,
    rank: 3,
  },
  { head: 'WHEN', text: (need) => whenOf(need, session.now), least: 8, most: 16, rank: 2 },
];

const whenOf = ({ kind, at }: Need, now: number): string => {
  if (at === null) return '';
  return kind === 'approval' ? `${left(at, now)} left` : `${since(at, now)} ago`;
};

const needRows = (state: State, needs: Need[], size: Size): Row[] => {
  const title = row(toned('strong', 'Needs you'));
  if (needs.length === 0) return [title, row('  Nothing. All is well.')];
  const at = chosenAt(needs, lookOf(state.ui).selected);
  const [, ...rows] = tableRows(needs, columns(state), size, { at });
  return [title, ...rows];
};

const liveRows = (state: State, { height }: Size): Row[] => {
  const { entries } = ringOf(state.streams, EXECUTIONS);
  const title = row(toned('strong', 'Live'));
  if (entries.length === 0) return [title, row(toned('muted', '  no execution since you came'))];
  const newest = entries.slice(-Math.max(0, height - 1)).reverse();
  return [title, ...newest.map((entry) => liveRow(entry, state.session.now))];
};

const liveRow = ({ at, kind, data }: Entry, now: number): Row => {
  const word = (name: string): string => {
    const value = data[name];
    return typeof value === 'string' ? value : '';
  };
  const status = kind === 'error' ? 'ERROR' : kind;
  return row(
    toned('muted', `${timeOfDay(at, now)}  `),
    `${word('hookName').padEnd(16)}  ${word('event').padEnd(18)}  `,
    toned(toneOf(status), status.padEnd(11)),
    word('error'),
  );
};
