import type { Execution, Hook, HookReply } from '../../../src/client/index.js';
import type { ScreenPage } from '../../page.js';
import { emptyStateRows } from '../../parts/emptystate.js';
import { orgColumns } from '../../parts/orgs.js';
import { row, type ScreenRow, type Size, tonedSpan } from '../../parts/row.js';
import {
  column,
  numberColumn,
  type ScreenColumn,
  stateColumn,
  tableRows,
} from '../../parts/table.js';
import { countedNoun } from '../../parts/text.js';
import { durationText, formatAge, timeOfEvent } from '../../parts/times.js';
import { listRows } from '../../state/lists.js';
import type { State } from '../../state/state.js';
import { listPage } from '../list.js';
import { hookActs, hookGist } from './acts.js';

const EVERY_MS = 15_000;
/**
 * Time that a selection must last before its executions are loaded, in milliseconds, so that moving
 * down the list loads nothing.
 */
const REST_MS = 200;

export const hookState = (hook: Hook): string => (hook.enabled ? 'enabled' : 'disabled');

const formatLastExecution = (
  { lastStatus, lastExecutionAt }: Hook['stats'],
  now: number,
): string => {
  if (lastExecutionAt === null) return 'never';
  const word = lastStatus === 'error' ? 'ERROR' : (lastStatus ?? '');
  return `${word} ${formatAge(lastExecutionAt, now)}`;
};

/** In upper case if it is an error. */
export const runStatus = ({ status }: Execution): string => (status === 'error' ? 'ERROR' : status);

export const executionColumns = ({ session, lists }: State): ScreenColumn<Execution>[] => [
  column('TIME', [8, 19, 0], ({ createdAt }) => timeOfEvent(createdAt, session.now)),
  stateColumn('STATUS', [7, 11, 0], (run) => lists.executions.busy[run.id] ?? runStatus(run)),
  column('EVENT', [8, 24, 1], ({ triggerContext, trigger }) => triggerContext.event ?? trigger),
  numberColumn('TOOK', [5, 9, 3], ({ durationMs }) => durationText(durationMs)),
  column('RESULT', [10, 400, 2], hookGist),
];

export const replyColumns = ({ session, lists }: State): ScreenColumn<HookReply>[] => [
  column('TIME', [8, 19, 0], ({ createdAt }) => timeOfEvent(createdAt, session.now)),
  stateColumn('STATUS', [7, 10, 0], ({ id, status }) => lists.replies.busy[id] ?? status),
  column('TO', [10, 40, 1], ({ object, preset }) => object ?? preset),
  column('RESULT', [10, 400, 2], ({ error, url }) => error ?? url ?? ''),
];

const latest = (state: State, hook: Hook, size: Size): ScreenRow[] => {
  const { executions } = state.lists;
  const head = row(tonedSpan('strong', `Latest executions of ${hook.name}`));
  if (executions.of !== hook.id) return [head];
  if (executions.order.length === 0) {
    const words = { noun: 'executions', empty: ['  none yet'] };
    return [head, ...emptyStateRows(executions, words, state, size)];
  }
  const runs = listRows(executions).slice(0, size.height);
  const below = { ...size, height: size.height - 1 };
  const [, ...rows] = tableRows(runs, executionColumns(state), below, { at: -1 });
  return [head, ...rows];
};

/** The list of hooks, with the latest executions of the selected one. */
/** Numbers in at most four characters: 999, 1.2K, 129K, 3.4M. */
const SHORT = new Intl.NumberFormat('en', { notation: 'compact' });

export const hooksPage: ScreenPage = listPage<Hook>({
  name: 'hooks',
  title: 'Hooks',
  noun: 'hook',
  list: 'hooks',
  rows: ({ lists }) => listRows(lists.hooks),
  item: (hook) => ({
    id: hook.id,
    name: hook.name,
    words: `${hookState(hook)} ${hook.trigger} ${hook.action} ${hook.stats.lastStatus ?? ''}`,
    facts: {
      state: hookState(hook),
      status: hook.stats.lastStatus ?? 'never',
      trigger: hook.trigger,
      action: hook.action,
    },
  }),
  columns: (state) => {
    const { session, lists } = state;
    return [
      column('NAME', [10, 40, 0], ({ name }) => name),
      stateColumn('STATE', [8, 12, 1], (hook) => lists.hooks.busy[hook.id] ?? hookState(hook)),
      stateColumn('LAST', [10, 16, 2], ({ stats }) => formatLastExecution(stats, session.now)),
      numberColumn('RUNS', [4, 9, 3], ({ stats }) => SHORT.format(stats.executions)),
      column('TRIGGER', [8, 18, 5], ({ trigger }) => trigger),
      column('ACTION', [8, 12, 4], ({ action }) => action),
      ...orgColumns<Hook>(
        state,
        listRows(lists.hooks).map(({ orgId }) => orgId),
        ({ orgId }) => orgId,
      ),
    ];
  },
  aside: latest,
  empty: [
    'No hooks yet.',
    'A hook starts an agent, notice, forward or tool when a signed webhook arrives.',
    '  a  create one     adjutant hooks create      adjutant help webhooks',
  ],
  opens: ({ id }) => ({ page: 'hook', id }),
  acts: hookActs,
  leaves: (hook) => ({ add: ['hooks', 'create'], edit: hook && ['hooks', 'update', hook.id] }),
  summary: (_, hooks) => {
    const failed = hooks.filter(({ stats }) => stats.lastStatus === 'error').length;
    return `${countedNoun(hooks.length, 'hook')}${failed > 0 ? `, ${failed} with an error` : ''}`;
  },
  glossary: [
    ['skipped', 'a condition or a limit prevented the run'],
    ['interrupted', 'the daemon stopped during the run; check its effects before a replay'],
  ],
  needs: (_, hook) => [
    { is: 'list', list: 'hooks', everyMs: EVERY_MS },
    ...(hook === null
      ? []
      : [
          {
            is: 'list' as const,
            list: 'executions' as const,
            of: hook.id,
            everyMs: EVERY_MS,
            afterMs: REST_MS,
          },
        ]),
  ],
});
