import type { TunnelCheck, TunnelView } from '../../src/client/index.js';
import type { ScreenPage } from '../page.js';
import { justify, row, type ScreenRow, tonedSpan } from '../parts/row.js';
import { factRows, textRows } from '../parts/text.js';
import { formatAge, formatTimeLeft, timeOfEvent } from '../parts/times.js';
import { type Act, type ActResult, actTarget, reportDone } from '../state/act.js';
import { TUNNEL } from '../state/rows.js';
import type { State } from '../state/state.js';
import { topView } from '../state/ui.js';
import { findStateTone } from '../theme.js';
import { textPage } from './detail.js';
import { possibleActs } from './list.js';

const EVERY_MS = 5000;
const NAME = 13;
const STATUS = 8;
const STATUSES = { ok: 'ok', warn: 'WARN', failed: 'FAILED', not_run: 'not run' };
const TIME = 9;

/** `null` if the tunnel is unknown or not set up. */
const shownTunnel = ({ lists }: State): TunnelView | null => {
  const tunnel = lists.tunnel.byId[TUNNEL];
  return tunnel && tunnel.provider !== null ? tunnel : null;
};

const tunnelText = (state: State, width: number): ScreenRow[] | null => {
  const tunnel = shownTunnel(state);
  if (!tunnel) return null;
  return [
    ...headRows(state, tunnel, width),
    [],
    ...(tunnel.check
      ? checkRows(tunnel.check, width)
      : [row(tonedSpan('muted', 'Not checked yet: c checks it'))]),
    ...logRows(state, tunnel, width),
  ];
};

const headRows = (state: State, tunnel: TunnelView, width: number): ScreenRow[] => {
  const { now } = state.session;
  const status = state.lists.tunnel.busy[TUNNEL] ?? tunnel.status;
  const lasted = tunnel.since === null ? '' : ` ${formatAge(tunnel.since, now)}`;
  const head = row(
    tonedSpan('strong', tunnel.provider ?? ''),
    tunnel.name ? ` (${tunnel.name})` : '',
    '   ',
    tonedSpan(findStateTone(status), `${status}${lasted}`),
    '   ',
    tunnel.address ?? 'no address',
    ...(tunnel.reach === 'none'
      ? []
      : ['   ', tonedSpan(findStateTone(tunnel.reach), tunnel.reach)]),
  );
  const facts: [string, string][] = [];
  if (tunnel.detail !== null) facts.push(['Detail', tunnel.detail]);
  if (tunnel.nextTryAt !== null) facts.push(['Retry in', formatTimeLeft(tunnel.nextTryAt, now)]);
  if (tunnel.addressHeader === null) {
    facts.push(['Note', 'It does not report client addresses: limits per address are off.']);
  }
  return [head, ...factRows(facts, width)];
};

/** Steps of a check, with the details of the first failure. */
const checkRows = ({ stages, failure }: TunnelCheck, width: number): ScreenRow[] => [
  ...stages.map(({ name, status, detail, latencyMs }, at) => {
    const word = STATUSES[status];
    const line = row(
      name === failure?.stage ? '> ' : '  ',
      `${at + 1} ${name.padEnd(NAME)}`,
      tonedSpan(status === 'not_run' ? 'muted' : findStateTone(word), word.padEnd(STATUS)),
      detail,
    );
    return justify(
      line,
      row(tonedSpan('muted', latencyMs === null ? '' : `${latencyMs} ms`)),
      width,
    );
  }),
  ...(failure
    ? [
        [],
        ...factRows(
          [
            ['Observed', failure.seen],
            ['Cause', failure.cause],
            ['Fix', failure.remedy],
          ],
          width,
        ),
      ]
    : []),
];

const logRows = ({ session, ui }: State, { log }: TunnelView, width: number): ScreenRow[] => {
  if (log.length === 0) return [];
  const { isWrapped } = topView(ui);
  // Newest line first, because the text is read from its beginning.
  const lines = log.toReversed().flatMap(({ at, line }) =>
    textRows(line, width - TIME, isWrapped).map((spans, part) => {
      const time = part === 0 ? timeOfEvent(at, session.now) : '';
      return row(tonedSpan('muted', time.padEnd(TIME)), ...spans);
    }),
  );
  return [[], row(tonedSpan('muted', 'Process log, newest first')), ...lines];
};

const toActResult = ({ stages, failure }: TunnelCheck): string | ActResult => {
  if (failure) return { message: `Failed at: ${failure.stage}`, tone: 'danger' };
  const doubtful = stages.filter(({ status }) => status === 'warn').map(({ name }) => name);
  if (doubtful.length > 0)
    return { message: `No failures. Warnings: ${doubtful.join(', ')}`, tone: 'warn' };
  return `Checked: all ${stages.length} stages pass`;
};

/** Actions for admins. The daemon refuses them to others. */
export const tunnelActs = ({ address, on, publicUrl, publicUrlSetting }: TunnelView) =>
  possibleActs<Act>({
    check: {
      ...actTarget('tunnel', TUNNEL),
      text: 'Check the tunnel',
      line: 'adjutant tunnel check',
      doing: 'checking…',
      call: async ({ tunnel }) => toActResult(await tunnel.check()),
    },
    stop: on && {
      ...actTarget('tunnel', TUNNEL),
      text: 'Stop the tunnel',
      line: 'adjutant tunnel stop',
      doing: 'stopping…',
      ask: { lines: [`Stop the tunnel? ${address ?? 'Its address'} stops working.`] },
      call: ({ tunnel }) => reportDone(tunnel.stop(), 'Stopped'),
    },
    start: !on && {
      ...actTarget('tunnel', TUNNEL),
      text: 'Start the tunnel',
      line: 'adjutant tunnel start',
      doing: 'starting…',
      call: ({ tunnel }) => reportDone(tunnel.start(), 'Started. It also starts with the daemon'),
    },
    delete: publicUrl !== null &&
      !publicUrlSetting && {
        ...actTarget('tunnel', TUNNEL),
        text: 'Forget the public address',
        line: 'adjutant tunnel forget',
        doing: 'forgetting…',
        ask: { lines: [`Forget ${address ?? 'the public address'}? This also stops the tunnel.`] },
        call: ({ tunnel }) => reportDone(tunnel.forget(), 'Forgotten and stopped'),
      },
  });

export const tunnelPage: ScreenPage = {
  ...textPage({
    name: 'tunnel',
    title: 'Tunnel',
    noun: 'tunnel',
    list: 'tunnel',
    text: tunnelText,
    empty: () => [
      'No tunnel is set up. Only this machine can reach the daemon.',
      '  e  set up      adjutant tunnel setup',
    ],
  }),
  acts: (state) => {
    const tunnel = shownTunnel(state);
    return tunnel ? tunnelActs(tunnel) : {};
  },
  leaves: () => ({ edit: ['tunnel', 'setup'] }),
  copies: (state) => shownTunnel(state)?.address ?? '',
  summary: (state) => {
    const tunnel = shownTunnel(state);
    if (!tunnel) return '';
    const { trouble } = state.lists.tunnel;
    if (trouble) return `loading failed: ${trouble.message}`;
    if (!tunnel.check) return 'not checked since the daemon started';
    return `checked ${timeOfEvent(tunnel.check.checkedAt, state.session.now)}`;
  },
  glossary: [
    ['signed', 'a signed delivery arrives unchanged'],
    ['exposed', 'private routes need a login, and forged addresses are rejected'],
  ],
  // Other users are refused once, and the desk does not ask again.
  needs: ({ session }) =>
    session.who?.role === 'admin'
      ? [
          { is: 'list', list: 'tunnel', everyMs: EVERY_MS },
          { is: 'channel', channel: 'tunnel.status' },
        ]
      : [{ is: 'list', list: 'tunnel' }],
};
