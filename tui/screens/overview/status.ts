import type { Overview } from '../../../src/client/index.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { sparkline } from '../../parts/spark.js';
import { countedNoun, formatDollars } from '../../parts/text.js';
import { durationText, formatUptime, timeOfEvent } from '../../parts/times.js';
import type { State } from '../../state/state.js';
import { findStateTone } from '../../theme.js';

type OverallStatus = 'ok' | 'warn' | 'down';

export const worstStatus = ({ parts }: Overview): OverallStatus => {
  if (parts.some(({ status }) => status === 'down')) return 'down';
  return parts.some(({ status }) => status === 'warn') ? 'warn' : 'ok';
};

const fact = (name: string, status: string, text: string): ScreenRow =>
  row(
    name.padEnd(9),
    tonedSpan(findStateTone(status), (status === 'ok' ? 'ok' : status.toUpperCase()).padEnd(6)),
    text,
  );

/** One line each for health, public address, queue, agents, mailboxes and today. */
export const statusRows = (state: State, known: Overview, width: number): ScreenRow[] => {
  const { queue, agents, operations, unread } = known;
  const long = operations.running + operations.queued;
  const oldest = queue.oldestMs === null ? '' : `, oldest ${durationText(queue.oldestMs)}`;
  const operationsText = long > 0 ? `   ${countedNoun(long, 'operation')}: :operations` : '';
  const work = `${queue.waiting} waiting${oldest}   ${queue.running} of ${queue.atOnce} running${operationsText}`;
  const asking = agents.waitingApproval + agents.paused;
  const agentCounts = [
    `${agents.running} running`,
    agents.queued > 0 && `${agents.queued} queued`,
    agents.waitingApproval > 0 && `${agents.waitingApproval} waiting for you`,
    agents.paused > 0 && `${agents.paused} paused`,
  ];
  return [
    fact(
      'Health',
      worstStatus(known),
      `ready ${formatUptime(known.uptimeSeconds)}   ${partsText(known)}`,
    ),
    publicFact(known),
    fact('Queue', queue.waiting > 0 && queue.running >= queue.atOnce ? 'warn' : 'ok', work),
    fact('Agents', asking > 0 ? 'warn' : 'ok', agentCounts.filter(Boolean).join('   ')),
    ...mailFacts(known),
    row('Today'.padEnd(15), todayText(known, unread)),
    ...staleRows(state, width),
  ];
};

/** Nothing without mailboxes. */
const mailFacts = ({ mailboxes: { total, watched, failing }, needs }: Overview): ScreenRow[] => {
  if (total === 0) return [];
  const count = countedNoun(total, 'mailbox', 'mailboxes');
  if (failing === 0) return [fact('Mail', 'ok', `${count}   ${watched} watched`)];
  const first = needs.find(({ kind }) => kind === 'mailbox');
  const why = first ? `   ${first.title}: ${first.detail}` : '';
  return [fact('Mail', 'warn', `${failing} of ${count} ${failing === 1 ? 'fails' : 'fail'}${why}`)];
};

const publicFact = ({ publicUrl, reach }: Overview): ScreenRow => {
  if (publicUrl === null) return fact('Public', '-', 'no address: adjutant tunnel setup');
  if (reach === 'verified') return fact('Public', 'ok', publicUrl);
  const why = reach === 'failed' ? 'the last check failed' : 'unverified';
  return fact('Public', 'warn', `${publicUrl}   ${why}: adjutant tunnel check`);
};

/** The failing parts. If there are none, all parts with their latency. */
const partsText = ({ parts }: Overview): string => {
  const failing = parts.filter(({ status }) => status !== 'ok');
  if (failing.length > 0)
    return failing.map(({ name, detail }) => `${name}: ${detail}`).join('   ');
  return parts
    .map(({ name, latencyMs }) =>
      latencyMs === null ? name : `${name} ${latencyMs.toFixed(1)} ms`,
    )
    .join('   ');
};

const todayText = ({ today }: Overview, unread: number): string =>
  [
    today.limitUsd === null
      ? `${formatDollars(today.costUsd)}, no limit`
      : `${formatDollars(today.costUsd)} of ${formatDollars(today.limitUsd)}`,
    countedNoun(today.agents, 'agent'),
    countedNoun(today.executions, 'execution'),
    `${today.failed} failed`,
    `${unread} unread`,
  ].join('   ');

const staleRows = (
  { overview: { trouble, loadedAt }, session }: State,
  width: number,
): ScreenRow[] => {
  if (!trouble || loadedAt === null) return [];
  const stale = `as of ${timeOfEvent(loadedAt, session.now)}: ${trouble.message}`;
  return [row(tonedSpan('warn', stale.slice(0, width)))];
};

export const rateRows = ({ rates }: Overview, rows: 1 | 2): ScreenRow[] => {
  const peak = Math.max(0, ...rates);
  return [
    [],
    row(tonedSpan('muted', `Executions per minute, last hour, peak ${peak}`)),
    ...sparkline(rates, rows).map((line) => row(tonedSpan('info', line))),
  ];
};
