import type { StreamRow } from '../../page.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { timeOfEvent } from '../../parts/times.js';
import type { State } from '../../state/state.js';
import { getStreamRing, type Ring, type StreamEntry } from '../../state/streams.js';

export const eventRows = ({ streams, session }: State, agentId: string): ScreenRow[] => {
  const { entries, gaps } = getStreamRing(streams, agentId);
  const open = [...gaps];
  const rows = entries.flatMap((entry) => {
    const before = open.filter(([from]) => entry.number !== null && from < entry.number);
    open.splice(0, before.length);
    return [...before.map(gapRow), eventRow(entry, session.now)];
  });
  return [...rows, ...open.map(gapRow)];
};

export const eventPieces = ({ entries, gaps }: Ring, now: number): StreamRow[] =>
  [
    ...gaps.map((gap) => ({ number: gap[0], row: gapRow(gap) })),
    ...entries.map((entry) => ({ number: entry.number ?? 0, row: eventRow(entry, now) })),
  ].sort((a, b) => a.number - b.number);

const gapRow = ([from, to]: readonly [number, number]): ScreenRow => {
  const count = to - from + 1;
  const text =
    count === 1
      ? `1 event was dropped (${from})`
      : `${count} events were dropped (${from} to ${to})`;
  return [tonedSpan('warn', `  ── ${text}; see the transcript ──`)];
};

/** Cached, because an entry never changes and a stream is drawn many times a second. */
const eventSummaries = new WeakMap<StreamEntry, string>();

const eventRow = (entry: StreamEntry, now: number): ScreenRow => {
  const summary = eventSummaries.get(entry) ?? eventSummary(entry);
  eventSummaries.set(entry, summary);
  return row(
    tonedSpan('muted', `${String(entry.number ?? '').padStart(5)} ${timeOfEvent(entry.at, now)}  `),
    `${entry.kind.replace('agent.', '').padEnd(10)}`,
    summary,
  );
};

const MAX_TEXT_LENGTH = 400;

const eventSummary = ({ kind, data }: StreamEntry): string => {
  const word = (name: string): string => {
    const value = data[name];
    if (value === undefined || value === null) return '';
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
  if (kind === 'agent.message')
    return `${word('role')}  ${word('content').slice(0, MAX_TEXT_LENGTH)}`;
  if (kind === 'agent.status') return `${word('status')}  ${word('error')}`.trimEnd();
  const digest = word('digest').slice(0, 8);
  const text = word('result') || word('arguments');
  const how = word('status') || (data.grantId === undefined ? '' : `by ${word('grantId')}`);
  return `${word('phase')}  ${word('tool')}  ${how} ${digest} ${text.slice(0, MAX_TEXT_LENGTH)}`;
};
