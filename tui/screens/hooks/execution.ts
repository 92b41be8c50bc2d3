import type { Execution } from '../../../src/client/index.js';
import type { ScreenPage } from '../../page.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { factRows, jsonRows, textRows } from '../../parts/text.js';
import { timeOfEvent } from '../../parts/times.js';
import { agentTarget } from '../../state/locations.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { findStateTone } from '../../theme.js';
import { detailPage } from '../detail.js';
import { hookGist, replayAct } from './acts.js';
import { shownHook } from './hook.js';
import { runStatus } from './hooks.js';

const shownExecution = (state: State): Execution | null =>
  state.lists.executions.byId[topView(state.ui).id ?? ''] ?? null;

const executionHead = (state: State, run: Execution): ScreenRow[] => {
  const status = runStatus(run);
  const { event } = run.triggerContext;
  const delivery = run.deliveryId ? `   delivery …${run.deliveryId.slice(-6)}` : '';
  const time = timeOfEvent(run.createdAt, state.session.now);
  return [
    row(
      tonedSpan('strong', shownHook(state)?.name ?? run.hookId),
      ` / exec …${run.id.slice(-6)}   `,
      tonedSpan(findStateTone(status), status),
      run.attempts > 1 ? `   attempt ${run.attempts}` : '',
    ),
    row(tonedSpan('muted', `${event ?? run.trigger}${delivery}   ${time}`)),
  ];
};

const executionRows = (state: State, run: Execution, width: number): ScreenRow[] => {
  const { tab, isRaw, isWrapped } = topView(state.ui);
  if (isRaw) return jsonRows(run, width, isWrapped);
  if (tab === 1) {
    const { webhook, agent, approval, email } = run.triggerContext;
    return jsonRows(webhook?.body ?? agent ?? approval ?? email ?? null, width, isWrapped);
  }
  if (tab !== 2) return timeline(run, width);
  return typeof run.result === 'string'
    ? textRows(run.result, width, isWrapped)
    : jsonRows(run.result, width, isWrapped);
};
const timeline = (run: Execution, width: number): ScreenRow[] => {
  const begin = Date.parse(run.triggerContext.receivedAt);
  const step = (at: string | null, word: string, text: string): ScreenRow[] => {
    if (at === null) return [];
    const offset = `+${((Date.parse(at) - begin) / 1000).toFixed(3)}`.padStart(8);
    return [row(tonedSpan('muted', offset), '  ', word.padEnd(10), text)];
  };
  const attempt = run.attempts > 1 ? `attempt ${run.attempts}` : '';
  return [
    ...step(
      run.triggerContext.receivedAt,
      'received',
      run.replayOf ? `replay of …${run.replayOf.slice(-6)}` : run.trigger,
    ),
    ...step(run.createdAt, 'durable', 'stored and queued'),
    ...step(run.startedAt, 'started', attempt),
    ...(run.agentId
      ? [row(' '.repeat(10), 'spawned'.padEnd(10), `agent …${run.agentId.slice(-6)}   o opens it`)]
      : []),
    ...step(run.finishedAt, run.status, run.error ? '' : hookGist(run)),
    [],
    ...(run.error ? factRows([['Error', run.error]], width) : []),
    ...(run.status === 'error' || run.status === 'interrupted'
      ? factRows([['Next', 'r replays the execution with the original payload']], width)
      : []),
  ];
};

export const executionPage: ScreenPage = {
  ...detailPage<Execution>({
    name: 'execution',
    title: 'Execution',
    noun: 'execution',
    tabs: ['Timeline', 'Payload', 'Result'],
    list: 'executions',
    shown: shownExecution,
    head: executionHead,
    text: executionRows,
  }),
  related: (state) => {
    const agentId = shownExecution(state)?.agentId;
    return agentId ? agentTarget(agentId) : null;
  },
  acts: (state) => {
    const run = shownExecution(state);
    return run ? { replay: replayAct(run) } : {};
  },
  needs: (state) => {
    const { id, of } = topView(state.ui);
    return [
      { is: 'list', list: 'executions', of: of ?? id, everyMs: 5000 },
      ...(of === undefined ? [{ is: 'list' as const, list: 'hooks' as const }] : []),
    ];
  },
};
