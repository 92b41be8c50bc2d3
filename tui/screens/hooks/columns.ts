import type { Execution, Hook } from '../../../src/client/index.js';
import type { ScreenColumn } from '../../parts/table.js';
import { since, timeOfEvent, took } from '../../parts/times.js';
import type { State } from '../../state/state.js';
import { hookGist, hookState } from './slice.js';

export const hookColumns = ({ session, lists }: State): ScreenColumn<Hook>[] => [
  { head: 'NAME', text: ({ name }) => name, least: 10, most: 40, rank: 0 },
  {
    head: 'STATE',
    text: (hook) => lists.hooks.busy[hook.id] ?? hookState(hook),
    isState: true,
    least: 8,
    most: 12,
    rank: 1,
  },
  {
    head: 'LAST',
    text: ({ stats }) => lastOf(stats, session.now),
    isState: true,
    least: 10,
    most: 16,
    rank: 2,
  },
  {
    head: 'RUNS',
    text: ({ stats }) => stats.executions.toLocaleString('en'),
    isNumber: true,
    least: 4,
    most: 9,
    rank: 3,
  },
  { head: 'TRIGGER', text: ({ trigger }) => trigger, least: 8, most: 18, rank: 5 },
  { head: 'ACTION', text: ({ action }) => action, least: 8, most: 12, rank: 4 },
];

const lastOf = ({ lastStatus, lastExecutionAt }: Hook['stats'], now: number): string => {
  if (lastExecutionAt === null) return 'never';
  const word = lastStatus === 'error' ? 'ERROR' : (lastStatus ?? '');
  return `${word} ${since(lastExecutionAt, now)}`;
};

export const executionColumns = ({ session, lists }: State): ScreenColumn<Execution>[] => [
  {
    head: 'TIME',
    text: ({ createdAt }) => timeOfEvent(createdAt, session.now),
    least: 8,
    most: 19,
    rank: 0,
  },
  {
    head: 'STATUS',
    text: ({ id, status }) => lists.executions.busy[id] ?? (status === 'error' ? 'ERROR' : status),
    isState: true,
    least: 7,
    most: 11,
    rank: 0,
  },
  {
    head: 'EVENT',
    text: ({ triggerContext, trigger }) => triggerContext.event ?? trigger,
    least: 8,
    most: 24,
    rank: 1,
  },
  {
    head: 'TOOK',
    text: ({ durationMs }) => took(durationMs),
    isNumber: true,
    least: 5,
    most: 9,
    rank: 3,
  },
  { head: 'RESULT', text: (run) => hookGist(run), least: 10, most: 400, rank: 2 },
];
