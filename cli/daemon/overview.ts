import type { Client } from '../../src/client/index.js';
import { oneLine } from '../text.js';
import { duration } from '../times.js';

export type OverviewReply = Awaited<ReturnType<Client['overview']['get']>>;

const GAP = '   ';
/** Parts that a line of the glance tells in other words. */
const TOLD = ['models'];

/** Three or four lines on the daemon and its user; what is ill has a line of its own. */
export const glance = (overview: OverviewReply, isReady: string): string[] => [
  [
    `ready ${isReady}`,
    `queue ${queueOf(overview)}`,
    `running ${overview.queue.running} of ${overview.queue.atOnce}`,
    `approvals ${approvalsOf(overview)} waiting`,
  ].join(GAP),
  [
    `models ${modelsOf(overview)}`,
    ...publicOf(overview),
    ...well(overview).map(({ name, detail }) => `${name} ${oneLine(detail) || 'ok'}`),
  ].join(GAP),
  todayOf(overview),
  ...ill(overview).map(
    ({ name, status, detail }) => `${status.toUpperCase().padEnd(4)}  ${name}: ${oneLine(detail)}`,
  ),
];

const publicOf = ({ publicUrl, reach }: OverviewReply): string[] => {
  if (publicUrl === null) return [];
  return [`public ${oneLine(publicUrl)}${reach === 'verified' ? '' : ` (${reach})`}`];
};

/** The same as names and values, but for the parts, which have rows of their own. */
export const glanceFacts = (overview: OverviewReply): [string, string][] => [
  ['waiting', queueOf(overview)],
  ['running', `${overview.queue.running} of ${overview.queue.atOnce}`],
  ['approvals', `${approvalsOf(overview)} waiting`],
  ...publicOf(overview).map((said): [string, string] => ['public', said.replace(/^public /, '')]),
  ['today', todayOf(overview).replace(/^today /, '')],
];

const queueOf = ({ queue: { waiting, oldestMs } }: OverviewReply): string =>
  oldestMs === null ? `${waiting}` : `${waiting} (oldest ${duration(oldestMs)})`;

const todayOf = ({ today }: OverviewReply): string => {
  const failed = today.failed > 0 ? ` (${today.failed} failed)` : '';
  const limit = today.limitUsd === null ? ', no limit' : ` of ${dollars(today.limitUsd)}`;
  return (
    `today ${counted(today.executions, 'execution')}${failed}, ` +
    `${counted(today.agents, 'agent')}, ${dollars(today.costUsd)}${limit}`
  );
};

const approvalsOf = ({ agents, needs }: OverviewReply): number =>
  Math.max(agents.waitingApproval, needs.filter(({ kind }) => kind === 'approval').length);

/** `gpt, local (cooling)` as `1 well, 1 cooling`. */
const modelsOf = ({ parts }: OverviewReply): string => {
  const states = (parts.find(({ name }) => name === 'models')?.detail ?? '').split(', ');
  const ill = states.flatMap((said) => / \((down|cooling)\)$/.exec(said)?.[1] ?? []);
  const count = (status: string): string[] => {
    const those = ill.filter((each) => each === status).length;
    return those === 0 ? [] : [`${those} ${status}`];
  };
  return [`${states.length - ill.length} well`, ...count('cooling'), ...count('down')].join(', ');
};

const well = ({ parts }: OverviewReply): OverviewReply['parts'] =>
  parts.filter(({ name, status }) => status === 'ok' && name === 'disk');

const ill = ({ parts }: OverviewReply): OverviewReply['parts'] =>
  parts.filter(({ name, status }) => status !== 'ok' && !TOLD.includes(name));

const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

const dollars = (usd: number): string => `$${usd.toFixed(2)}`;
