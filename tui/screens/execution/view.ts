import type { Execution } from '../../../src/client/index.js';
import { facing, goneRows } from '../../parts/faces.js';
import { apart, row, type ScreenRow, type Size, tonedSpan } from '../../parts/row.js';
import { tabsRow } from '../../parts/tabs.js';
import { factRows, jsonRows, scrolled, textRows } from '../../parts/text.js';
import { timeOfEvent } from '../../parts/times.js';
import type { State } from '../../state/state.js';
import { lookOf } from '../../state/ui.js';
import { toneOf } from '../../theme.js';
import { hookGist, shownExecution, shownHook } from '../hooks/slice.js';

/** Shows one execution: its timeline, its payload and its result. */
export const executionView = (state: State, size: Size): ScreenRow[] => {
  const run = shownExecution(state);
  if (!run) return goneRows(state.lists.executions, 'execution', facing(state.session, size));
  const look = lookOf(state.ui);
  const [name = [], facts = []] = executionHead(state);
  const head = apart(name, tabsRow(['Timeline', 'Payload', 'Result'], look.tab), size.width);
  const body = { ...size, height: size.height - 3 };
  return [head, facts, [], ...scrolled(executionRows(state, size.width) ?? [], look.scroll, body)];
};

/** Returns the hook and the status of the execution, then its trigger. */
export const executionHead = (state: State): ScreenRow[] => {
  const run = shownExecution(state);
  if (!run) return [];
  const status = run.status === 'error' ? 'ERROR' : run.status;
  const { event } = run.triggerContext;
  const delivery = run.deliveryId ? `   delivery …${run.deliveryId.slice(-6)}` : '';
  const time = timeOfEvent(run.createdAt, state.session.now);
  return [
    row(
      tonedSpan('strong', shownHook(state)?.name ?? run.hookId),
      ` / exec …${run.id.slice(-6)}   `,
      tonedSpan(toneOf(status), status),
      run.attempts > 1 ? `   attempt ${run.attempts}` : '',
    ),
    row(tonedSpan('muted', `${event ?? run.trigger}${delivery}   ${time}`)),
  ];
};

export const executionRows = (state: State, width: number): ScreenRow[] | null => {
  const run = shownExecution(state);
  const { tab, isRaw, isWrapped } = lookOf(state.ui);
  if (!run) return null;
  if (isRaw) return jsonRows(run, width, isWrapped);
  if (tab === 1) {
    const { webhook, agent, approval } = run.triggerContext;
    return jsonRows(webhook?.body ?? agent ?? approval ?? null, width, isWrapped);
  }
  if (tab === 2) {
    return typeof run.result === 'string'
      ? textRows(run.result, width, isWrapped)
      : jsonRows(run.result, width, isWrapped);
  }
  return timeline(run, width);
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
      run.replayOf ? `again, replay of …${run.replayOf.slice(-6)}` : run.trigger,
    ),
    ...step(run.createdAt, 'durable', 'kept, and queued'),
    ...step(run.startedAt, 'started', attempt),
    ...(run.agentId
      ? [row(' '.repeat(10), 'spawned'.padEnd(10), `agent …${run.agentId.slice(-6)}   o opens it`)]
      : []),
    ...step(run.finishedAt, run.status, run.error ? '' : hookGist(run)),
    [],
    ...(run.error ? factRows([['Error', run.error]], width) : []),
    ...(run.status === 'error' || run.status === 'interrupted'
      ? factRows([['Do', 'r runs it again, with the payload that came then']], width)
      : []),
  ];
};
