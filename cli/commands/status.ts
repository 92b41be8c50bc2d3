import type { Client } from '../../src/client/index.js';
import { usesScreenReader } from '../../src/client/session.js';
import { buildColumns } from '../columns.js';
import { type Context, command, switchFlag } from '../command.js';
import { resolveHome } from '../daemon/environment.js';
import { lastDaemon, runningDaemon } from '../daemon/process.js';
import { findReadiness, type ReadinessFinding, startCommandFor } from '../daemon/readiness.js';
import { Exit, interrupted, nullIfRefused } from '../exit.js';
import type { CliOutput } from '../output.js';
import { duration, formatCount, oneLine } from '../text.js';

export const status = command({
  name: 'status',
  calls: ['overview get'],
  summary: 'Show the status of the daemon',
  examples: ['', '--json', '--watch'],
  flags: { watch: switchFlag('Refresh every two seconds until ^C') },
  notes: ['Exit code 1: not running, or not ready. Log in to see details.'],
  seeAlso: 'doctor, logs',
  run: async (context, { flags }) => {
    if (!flags.watch) return show(context);
    for (;;) {
      if (context.out.format === 'table' && !usesScreenReader()) context.out.line(CLEAR);
      await show(context);
      await context.clock.wait(WATCH_MS, context.signal).catch(() => {
        throw interrupted('The daemon continues to run.');
      });
    }
  },
});

const WATCH_MS = 2000;
const CLEAR = '\u001b[2J\u001b[H';

const show = async (context: Context): Promise<void> => {
  const readiness = await findReadiness(context.url);
  context.exitCode = readiness.is === 'ready' ? Exit.done : Exit.failed;
  const isThere = readiness.is === 'ready' || readiness.is === 'not_ready';
  if (!isThere) return showAbsent(context, readiness);
  await showPresent(context, readiness);
};

const partColumns = buildColumns<HealthReply['parts'][number]>(['name', 'status', 'detail']);

const showAbsent = ({ out, url, flags }: Context, readiness: ReadinessFinding): void => {
  const { is } = readiness;
  const home = resolveHome(flags.home);
  const running = runningDaemon(home);
  const isMeant = running !== null && [null, url].includes(running.url);
  const state = STATES[is] ?? (isMeant ? 'starting' : 'not_running');
  if (readiness.is === 'wrongScheme') out.note(sentenceOf(readiness.reason));
  if (out.format !== 'table') {
    out.item(
      { url, state, pid: isMeant ? running.pid : null },
      buildColumns(['url', 'state', 'pid']),
    );
    if (out.format === 'json') return;
  } else if (is === 'otherProgram') out.line(`A program other than Adjutant replies at ${url}.`);
  else if (is === 'wrongScheme') out.line(`Cannot reach the daemon at ${url}.`);
  else out.line(`${isMeant ? 'Running but not replying' : 'Not running'} at ${url}.`);
  if (readiness.is === 'wrongScheme') return;
  if (isMeant) out.note(`It is pid ${running.pid}. Its log: adjutant logs`);
  else if (running) out.note(`The daemon of ${home} is at ${running.url}.`);
  else if (lastDaemon(home)) out.note('It ended unexpectedly. Find out why: adjutant logs');
  else out.note(`Start it: ${startCommandFor(url, flags.home)}`);
};

const STATES: Partial<Record<ReadinessFinding['is'], string>> = {
  otherProgram: 'stranger',
  wrongScheme: 'wrong_scheme',
};

const sentenceOf = (reason: string): string =>
  `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;

const showPresent = async (context: Context, readiness: ReadinessFinding): Promise<void> => {
  const { out, url } = context;
  const client = await context.client();
  const health = await client.health.detailed();
  const overview =
    context.token === undefined ? null : await nullIfRefused([401, 403], client.overview.get());
  const running = runningDaemon(resolveHome(context.flags.home));
  const pid = running && [null, url].includes(running.url) ? running.pid : null;
  const failing = readiness.is === 'not_ready' ? readiness.failing : [];
  const ready = readiness.is === 'ready';
  if (out.format !== 'table') {
    const about = { url, state: 'running', ready, failing, pid };
    const reply = { ...about, ...health, ...(overview && { overview }) };
    const rows = [
      { name: 'daemon', status: 'ok', detail: renderHeader(health, pid, url).join(', ') },
      { name: 'ready', status: ready ? 'ok' : 'down', detail: failing.join(', ') },
      ...(overview ? glanceFacts(overview) : []).map(([name, detail]) => ({
        name,
        status: isWarning(name, overview) ? 'warn' : 'ok',
        detail,
      })),
    ];
    return out.page({ reply, rows: [...rows, ...health.parts], columns: partColumns });
  }
  out.line(renderHeader(health, pid, url).join('  '));
  const isReady = ready ? 'yes' : `NO: ${failing.join(', ')}`;
  if (overview === null) showParts(out, isReady, health);
  else for (const line of glance(overview, isReady)) out.sentence(line, 6);
};

const renderHeader = (health: HealthReply, pid: number | null, url: string): string[] => [
  `Adjutant ${oneLine(health.version)}`,
  `running ${duration(health.uptimeSeconds * 1000)}`,
  ...(pid === null ? [] : [`pid ${pid}`]),
  url,
];

type HealthReply = Awaited<ReturnType<Client['health']['detailed']>>;

/** Without a login: all parts by name. */
const showParts = (out: CliOutput, isReady: string, { parts }: HealthReply): void => {
  out.facts([
    ['ready', isReady],
    ...parts.map(({ name, status: word, detail }): [string, string] => [
      name,
      `${word === 'ok' ? 'ok  ' : word.toUpperCase()}  ${detail}`,
    ]),
  ]);
  out.note('For details, log in: adjutant login');
};

export type OverviewReply = Awaited<ReturnType<Client['overview']['get']>>;

const GAP = '   ';
/** Parts that another line of the status covers. */
const COVERED_PARTS = ['models'];

/** Four or five lines about the daemon and the user, and one for each part with a problem. */
const glance = (overview: OverviewReply, isReady: string): string[] => [
  [
    `ready ${isReady}`,
    `queue ${formatQueue(overview)}`,
    `running ${overview.queue.running} of ${overview.queue.atOnce}`,
    `approvals ${countApprovals(overview)} waiting`,
  ].join(GAP),
  [
    `models ${formatModelCounts(overview)}`,
    ...formatPublicUrl(overview),
    ...healthyParts(overview).map(({ name, detail }) => `${name} ${oneLine(detail) || 'ok'}`),
  ].join(GAP),
  formatWorkSummary(overview),
  formatToday(overview),
  ...unhealthyParts(overview).map(
    ({ name, status, detail }) => `${status.toUpperCase().padEnd(4)}  ${name}: ${oneLine(detail)}`,
  ),
  ...overview.needs
    .filter(({ kind }) => kind === 'mailbox')
    .map(({ title, detail }) => `WARN  mailbox ${oneLine(title)}: ${oneLine(detail)}`),
];

/** An address is `ok` only if it was verified. */
const isWarning = (name: string, overview: OverviewReply | null): boolean =>
  (name === 'public' && overview?.reach !== 'verified') ||
  (name === 'mailboxes' && overview?.mailboxes.failing !== 0);

const formatPublicUrl = ({ publicUrl, reach }: OverviewReply): string[] => {
  if (publicUrl === null) return [];
  return [`public ${oneLine(publicUrl)}${reach === 'verified' ? '' : ` (${reach})`}`];
};

/** The same as names and values, without the parts, which have rows of their own. */
const glanceFacts = (overview: OverviewReply): [string, string][] => [
  ['waiting', formatQueue(overview)],
  ['running', `${overview.queue.running} of ${overview.queue.atOnce}`],
  ['approvals', `${countApprovals(overview)} waiting`],
  ...formatPublicUrl(overview).map((entry): [string, string] => [
    'public',
    entry.replace(/^public /, ''),
  ]),
  ['pipelines', formatPipelineCounts(overview)],
  ['recurring', formatRecurringCounts(overview)],
  ...formatMailboxes(overview).map((text): [string, string] => ['mailboxes', text]),
  ['today', formatToday(overview).replace(/^today /, '')],
];

const formatWorkSummary = (overview: OverviewReply): string =>
  [
    `pipelines ${formatPipelineCounts(overview)}`,
    `recurring ${formatRecurringCounts(overview)}`,
    ...formatMailboxes(overview).map((text) => `mailboxes ${text}`),
  ].join(GAP);

/** Nothing without mailboxes. */
const formatMailboxes = ({ mailboxes: { total, watched, failing } }: OverviewReply): string[] =>
  total === 0 ? [] : [`${total}, ${watched} watched${failing > 0 ? `, ${failing} failing` : ''}`];

const formatPipelineCounts = ({ pipelines: { open, waiting } }: OverviewReply): string =>
  `${open} open, ${waiting} waiting for you`;

const formatRecurringCounts = ({ recurring: { enabled, nextAt } }: OverviewReply): string =>
  `${enabled} enabled${nextAt === null ? '' : `, next ${nextAt.slice(0, 16)}Z`}`;

const formatQueue = ({ queue: { waiting, oldestMs } }: OverviewReply): string =>
  oldestMs === null ? `${waiting}` : `${waiting} (oldest ${duration(oldestMs)})`;

const formatToday = ({ today }: OverviewReply): string => {
  const failed = today.failed > 0 ? ` (${today.failed} failed)` : '';
  const limit = today.limitUsd === null ? ', no limit' : ` of ${dollars(today.limitUsd)}`;
  return (
    `today ${formatCount(today.executions, 'execution')}${failed}, ` +
    `${formatCount(today.agents, 'agent')}, ${dollars(today.costUsd)}${limit}`
  );
};

const countApprovals = ({ agents, needs }: OverviewReply): number =>
  Math.max(agents.waitingApproval, needs.filter(({ kind }) => kind === 'approval').length);

/** `gpt, local (cooling)` as `1 ok, 1 cooling`. */
const formatModelCounts = ({ parts }: OverviewReply): string => {
  const states = (parts.find(({ name }) => name === 'models')?.detail ?? '').split(', ');
  const unhealthyParts = states.flatMap((entry) => / \((down|cooling)\)$/.exec(entry)?.[1] ?? []);
  const count = (status: string): string[] => {
    const those = unhealthyParts.filter((each) => each === status).length;
    return those === 0 ? [] : [`${those} ${status}`];
  };
  return [
    `${states.length - unhealthyParts.length} ok`,
    ...count('cooling'),
    ...count('down'),
  ].join(', ');
};

const healthyParts = ({ parts }: OverviewReply): OverviewReply['parts'] =>
  parts.filter(({ name, status }) => status === 'ok' && name === 'disk');

const unhealthyParts = ({ parts }: OverviewReply): OverviewReply['parts'] =>
  parts.filter(({ name, status }) => status !== 'ok' && !COVERED_PARTS.includes(name));

const dollars = (usd: number): string => `$${usd.toFixed(2)}`;
