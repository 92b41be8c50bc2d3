import { isOver, progressDone, renderProgressBar } from '../../../cli/operations/bar.js';
import { formatProgressCounts } from '../../../cli/operations/counts.js';
import type { Operation } from '../../../src/client/index.js';
import type { Acts, PageNeed, ScreenPage } from '../../page.js';
import { orgFacts } from '../../parts/orgs.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { column, numberColumn, stateColumn } from '../../parts/table.js';
import { countedNoun, factRows, inlineValue, textRows } from '../../parts/text.js';
import { durationText, formatAge, timeOfEvent } from '../../parts/times.js';
import { actTarget } from '../../state/act.js';
import { capabilitySlug } from '../../state/capabilities.js';
import { listRows } from '../../state/lists.js';
import {
  agentTarget,
  chunkTarget,
  documentPlace,
  hookTarget,
  type JumpTarget,
  reportPlace,
  rowTarget,
  type ScreenPlace,
} from '../../state/locations.js';
import { selectedItem } from '../../state/selection.js';
import type { State } from '../../state/state.js';
import { findStateTone } from '../../theme.js';
import { listPage, possibleActs } from '../list.js';

/** The socket reports progress. This interval is for missed events. */
const EVERY_MS = 15_000;
const BAR_WIDTH = 6;

/** Status, or action in progress. */
const formatOperationStatus = ({ lists }: State, { id, status }: Operation): string =>
  lists.operations.busy[id] ?? status;

export const progressText = ({ paces }: State, operation: Operation): string => {
  if (!operation.progress) return isOver(operation) ? '' : `${operation.status}…`;
  const samples = paces[operation.id] ?? [];
  const last = samples.at(-1) ?? { at: 0, done: progressDone(operation) };
  return renderProgressBar(operation, samples[0] ?? last, last.at);
};

/** Progress as a percentage. Empty if the total is unknown. */
export const progressPercent = ({ progress, status }: Operation): string => {
  if (!progress || progress.total === null || progress.total === 0) return '';
  if (status === 'failed' && progress.done >= progress.total) return '';
  return `${Math.floor(Math.min(1, progress.done / progress.total) * 100)} %`;
};

/** Short bar and percentage: `[##····]  40 %`; else the count alone. */
const shortBar = (operation: Operation): string => {
  const { progress } = operation;
  const share = progressPercent(operation);
  if (!progress) return '';
  if (share === '') return `${progress.done.toLocaleString('en')} ${progress.unit}`;
  const full = Math.round(Math.min(1, progress.done / (progress.total ?? 1)) * BAR_WIDTH);
  return `[${'#'.repeat(full)}${'·'.repeat(BAR_WIDTH - full)}] ${share.padStart(5)}`;
};

const parseTimeLeft = (state: State, operation: Operation): string =>
  / {2}([^ ].*) left$/.exec(progressText(state, operation))?.[1]?.replace(/^.* {2}/, '') ?? '';

/** Duration in milliseconds. `null` if it has not started. */
const durationMs = ({ startedAt, finishedAt }: Operation, now: number): number | null =>
  startedAt === null
    ? null
    : Math.max(0, (finishedAt === null ? now : Date.parse(finishedAt)) - Date.parse(startedAt));

export const operationFacts = (state: State, operation: Operation): [string, string][] => {
  const { now } = state.session;
  const { kind, resource, progress, error, createdAt } = operation;
  const ms = durationMs(operation, now);
  const lasts = ms === null ? '' : `   ${isOver(operation) ? 'took' : 'for'} ${durationText(ms)}`;
  const facts: [string, string][] = [
    ['Kind', kind],
    ['About', resource.kind === 'user' ? 'all your data' : `${resource.kind} ${resource.id}`],
    ['Started', `${timeOfEvent(createdAt, now)}${lasts}`],
    ...orgFacts(state, operation),
  ];
  if (progress?.note) facts.push(['Note', progress.note]);
  if (error !== null) facts.push(['Error', error]);
  return facts;
};

export const resultRows = ({ result }: Operation, width: number): ScreenRow[] => {
  const entries = Object.entries(result ?? {});
  if (entries.length === 0) return [];
  return [
    [],
    row(tonedSpan('strong', 'Result')),
    ...factRows(
      entries.map(([name, value]): [string, string] => [name, inlineValue(value)]),
      width,
    ),
  ];
};

const detailRows = (state: State, operation: Operation, width: number): ScreenRow[] => {
  const bar = progressText(state, operation);
  return [
    row(
      tonedSpan('strong', operation.title),
      '   ',
      tonedSpan(findStateTone(operation.status), formatOperationStatus(state, operation)),
    ),
    ...(bar === '' ? [] : textRows(bar, width, true)),
    [],
    ...factRows(operationFacts(state, operation), width),
    ...resultRows(operation, width),
  ];
};

/** What remains after cancelling an operation, by kind. */
const CANCEL_EFFECTS: Readonly<Record<string, string>> = {
  'capabilities.install': 'Partial downloads are removed. Complete dependencies stay.',
  'capabilities.measure': 'No speed is stored.',
  'capabilities.verify': 'Nothing is changed.',
};

/** Ollama itself keeps a pull that ended. */
const cancelEffect = ({ kind, resource }: Operation): string => {
  if (kind === 'capabilities.install' && resource.id.startsWith('ollama-'))
    return 'Ollama keeps its partial download.';
  return CANCEL_EFFECTS[kind] ?? 'Completed work is not undone.';
};

export const operationActs = (operation: Operation): Acts => {
  const { id, title } = operation;
  return possibleActs({
    stop: !isOver(operation) && {
      ...actTarget('operations', id),
      text: `Cancel operation ${title}`,
      line: `adjutant operations cancel ${id}`,
      doing: 'cancelling…',
      ask: { lines: [`Cancel ${title}? ${cancelEffect(operation)}`] },
      call: async ({ operations }) => {
        const { progress } = await operations.cancel({ id });
        const counts =
          progress && progress.done > 0 ? formatProgressCounts(progress) : 'not started';
        return `Cancelled. Last state: ${progress?.unit === 'bytes' ? counts : (progress?.note ?? counts)}`;
      },
    },
  });
};

/** Page of the object of an operation. `null` if the desk has none. */
export const operationTarget = ({
  resource: { kind, id },
}: Operation): JumpTarget | ScreenPlace | null => {
  if (kind === 'hook') return hookTarget(id);
  if (kind === 'agent') return agentTarget(id);
  if (kind === 'document') return documentPlace(id, 1);
  if (kind === 'research') return reportPlace(id);
  if (kind === 'capability') return rowTarget('capabilities', capabilitySlug(id));
  if (kind === 'model') return rowTarget('models', id);
  return kind === 'knowledge' ? chunkTarget(id, 0) : null;
};

export const operationNeeds: PageNeed[] = [
  { is: 'list', list: 'operations', everyMs: EVERY_MS },
  { is: 'channel', channel: 'operation.progress' },
];

export const OPERATION_WORDS = [
  ['interrupted', 'the daemon stopped, and the operation cannot continue'],
] as const;

const listed: ScreenPage = listPage<Operation>({
  name: 'operations',
  title: 'Operations',
  noun: 'operation',
  list: 'operations',
  rows: ({ lists }) => listRows(lists.operations),
  item: ({ id, title, kind, status, progress, error }) => ({
    id,
    name: title,
    words: `${kind} ${status} ${progress?.note ?? ''} ${error ?? ''}`,
    facts: { status, kind },
  }),
  columns: (state) => [
    stateColumn('STATE', [9, 12, 0], (each) => formatOperationStatus(state, each)),
    column('TITLE', [18, 60, 0], ({ title }) => title),
    { ...column('PROGRESS', [14, 24, 1], shortBar), said: progressPercent },
    column('LEFT', [8, 9, 2], (each) => parseTimeLeft(state, each)),
    numberColumn('AGE', [4, 5, 3], ({ createdAt }) => formatAge(createdAt, state.session.now)),
    column('KIND', [20, 24, 4], ({ kind }) => kind),
  ],
  detail: detailRows,
  empty: [
    'No operations yet.',
    'Replays, resends, uploads and research are operations: they survive a restart.',
  ],
  needs: () => operationNeeds,
  opens: ({ id }) => ({ page: 'operation', id }),
  related: operationTarget,
  acts: operationActs,
  summary: (_, rows) => {
    const having = (status: Operation['status']) =>
      rows.filter((each) => each.status === status).length;
    const failed = having('failed') + having('interrupted');
    return `${countedNoun(rows.length, 'operation')}: ${having('running')} running, ${having('queued')} waiting, ${failed} failed`;
  },
  glossary: OPERATION_WORDS,
});

export const operationsPage: ScreenPage = {
  ...listed,
  line: (state) => {
    const chosen = selectedItem(listed, state);
    return `adjutant operations ${chosen ? `watch ${chosen.id}` : 'list'}`;
  },
};
