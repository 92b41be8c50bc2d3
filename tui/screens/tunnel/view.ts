import type { TunnelCheck, TunnelView } from '../../../src/client/index.js';
import { faceOf, facing } from '../../parts/faces.js';
import { apart, row, type ScreenRow, type Size, tonedSpan } from '../../parts/row.js';
import { factRows, scrolled, textRows } from '../../parts/text.js';
import { left, since, timeOfEvent } from '../../parts/times.js';
import { TUNNEL } from '../../state/lists.js';
import type { State } from '../../state/state.js';
import { lookOf } from '../../state/ui.js';
import { toneOf } from '../../theme.js';

const NAME = 13;
const STATUS = 8;
const STATUSES = { ok: 'ok', warn: 'WARN', failed: 'FAILED', not_run: 'not run' };
const TIME = 9;
const EMPTY = [
  'Nothing is set up: this machine alone reaches the daemon.',
  '  e  set it up      adjutant tunnel setup',
];

/** Returns the tunnel; null if it is not known, or if none is set up. */
export const shownTunnel = ({ lists }: State): TunnelView | null => {
  const tunnel = lists.tunnel.byId[TUNNEL];
  return tunnel && tunnel.provider !== null ? tunnel : null;
};

/**
 * Shows the provider and the address, the stages of the last check, and the log of the provider's
 * program.
 */
export const tunnelView = (state: State, size: Size): ScreenRow[] => {
  const rows = tunnelText(state, size.width);
  if (rows) return scrolled(rows, lookOf(state.ui).scroll, size);
  const words = { ...facing(state.session, size), noun: 'tunnel', empty: EMPTY };
  return faceOf({ ...state.lists.tunnel, order: [] }, words) ?? [];
};

export const tunnelText = (state: State, width: number): ScreenRow[] | null => {
  const tunnel = shownTunnel(state);
  if (!tunnel) return null;
  return [
    ...headRows(state, tunnel, width),
    [],
    ...(tunnel.check
      ? checkRows(tunnel.check, width)
      : [row(tonedSpan('muted', 'Not checked yet: c'))]),
    ...logRows(state, tunnel, width),
  ];
};

const headRows = (state: State, tunnel: TunnelView, width: number): ScreenRow[] => {
  const { now } = state.session;
  const status = state.lists.tunnel.busy[TUNNEL] ?? tunnel.status;
  const lasted = tunnel.since === null ? '' : ` ${since(tunnel.since, now)}`;
  const head = row(
    tonedSpan('strong', tunnel.provider ?? ''),
    tunnel.name ? ` (${tunnel.name})` : '',
    '   ',
    tonedSpan(toneOf(status), `${status}${lasted}`),
    '   ',
    tunnel.address ?? 'no address',
    ...(tunnel.reach === 'none' ? [] : ['   ', tonedSpan(toneOf(tunnel.reach), tunnel.reach)]),
  );
  const facts: [string, string][] = [];
  if (tunnel.detail !== null) facts.push(['Why', tunnel.detail]);
  if (tunnel.nextTryAt !== null) facts.push(['Again in', left(tunnel.nextTryAt, now)]);
  if (tunnel.addressHeader === null) {
    facts.push(['Note', 'It tells no addresses of callers: limits per address are off.']);
  }
  return [head, ...factRows(facts, width)];
};

/**
 * Returns the stages of a check; for the first one that fails, also what was seen, why, and what to
 * do.
 */
const checkRows = ({ stages, failure }: TunnelCheck, width: number): ScreenRow[] => [
  ...stages.map(({ name, status, detail, latencyMs }, at) => {
    const word = STATUSES[status];
    const line = row(
      name === failure?.stage ? '> ' : '  ',
      `${at + 1} ${name.padEnd(NAME)}`,
      tonedSpan(status === 'not_run' ? 'muted' : toneOf(word), word.padEnd(STATUS)),
      detail,
    );
    return apart(line, row(tonedSpan('muted', latencyMs === null ? '' : `${latencyMs} ms`)), width);
  }),
  ...(failure
    ? [
        [],
        ...factRows(
          [
            ['Seen', failure.seen],
            ['Cause', failure.cause],
            ['Do', failure.remedy],
          ],
          width,
        ),
      ]
    : []),
];

const logRows = ({ session, ui }: State, { log }: TunnelView, width: number): ScreenRow[] => {
  if (log.length === 0) return [];
  const { isWrapped } = lookOf(ui);
  // The newest line comes first, because the text is read from its beginning.
  const lines = log.toReversed().flatMap(({ at, line }) =>
    textRows(line, width - TIME, isWrapped).map((said, part) => {
      const time = part === 0 ? timeOfEvent(at, session.now) : '';
      return row(tonedSpan('muted', time.padEnd(TIME)), ...said);
    }),
  );
  return [[], row(tonedSpan('muted', 'Process log, the newest first')), ...lines];
};
