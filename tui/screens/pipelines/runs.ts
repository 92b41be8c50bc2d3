import { stageBranches } from '../../../cli/pipelines/tree.js';
import type { PageNeed, ScreenPage } from '../../page.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { column, numberColumn, stateColumn } from '../../parts/table.js';
import { countedNoun, formatDollars } from '../../parts/text.js';
import { formatAge } from '../../parts/times.js';
import { listRows } from '../../state/lists.js';
import { runPlace } from '../../state/locations.js';
import type { RunItem, StageBrief } from '../../state/pipelineruns.js';
import { selectedItem } from '../../state/selection.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { findStateTone } from '../../theme.js';
import { listPage } from '../list.js';
import { runActs } from './acts.js';
import { STAGE_WORDS } from './run.js';
import { needsPerson, signedState, stageReason, stageTone, treeLines } from './stage.js';

/** The socket reports changes. This interval is for missed events. */
const EVERY_MS = 15_000;
const REST_MS = 150;
const OVER = ['completed', 'failed', 'skipped', 'stopped'];
const ASKS: Partial<Record<StageBrief['status'], string>> = {
  waiting_approval: 'for approval',
  waiting_input: 'for input',
};

/** Status, or action in progress. */
const formatRunStatus = ({ lists }: State, { id, status }: RunItem): string =>
  lists.runs.busy[id] ?? status;

/** Freshly loaded stages if the run is selected, else those of the list. */
const getRunStages = ({ lists: { stages } }: State, run: RunItem): readonly StageBrief[] | null =>
  stages.of === run.id && stages.order.length > 0 ? listRows(stages) : run.stages;

/** Number of ended stages: `3/5`. Empty if unknown. */
const formatRunProgress = (state: State, run: RunItem): string => {
  const stages = getRunStages(state, run);
  if (stages === null) return '';
  return `${stages.filter(({ status }) => OVER.includes(status)).length}/${stages.length}`;
};

/** First stage that waits for a person, else the first that runs. */
const currentStage = (stages: readonly StageBrief[]): StageBrief | undefined =>
  stages.find(needsPerson) ?? stages.find(({ status }) => status === 'running');

const formatCurrentStage = (state: State, run: RunItem): string => {
  if (run.error !== null) return run.error;
  const stage = currentStage(getRunStages(state, run) ?? []);
  if (!stage) return '';
  const { key, status, reason } = stage;
  const asks = ASKS[status];
  return `${key} ${asks === undefined ? (reason ?? status) : `waits ${asks}`}`;
};

const templateName = ({ lists: { templates } }: State, { templateId }: RunItem): string =>
  templates.byId[templateId]?.name ?? templateId;

const detailRows = (state: State, run: RunItem): ScreenRow[] => {
  const { name, untrusted, usage, error } = run;
  const word = formatRunStatus(state, run);
  const { stages } = state.lists;
  const tree = stages.of === run.id ? stageBranches(listRows(stages)) : [];
  return [
    row(
      ...[tonedSpan('strong', name), '   ', tonedSpan(findStateTone(word), word)],
      `   ${templateName(state, run)}   ${formatDollars(usage.costUsd)}   `,
      tonedSpan('untrusted', untrusted ? 'UNTRUSTED' : ''),
    ),
    ...(error === null ? [] : [row(tonedSpan('danger', error))]),
    [],
    ...tree.map(({ stage, lines }) =>
      row(
        `${treeLines(lines)}${stage.key}  `,
        tonedSpan(stageTone(stage), signedState(stage)),
        stageReason(stage) === '' ? '' : `  ${stageReason(stage)}`,
      ),
    ),
  ];
};

const listPageNeeds = (of: string | null, run: RunItem | null): PageNeed[] => [
  { is: 'list', list: 'runs', of, everyMs: EVERY_MS },
  { is: 'list', list: 'templates' },
  { is: 'channel', channel: 'pipeline.stage' },
  ...(run ? [{ is: 'list' as const, list: 'stages' as const, of: run.id, afterMs: REST_MS }] : []),
];

const shownRuns = ({ ui, lists }: State): RunItem[] => {
  const { of = null, id } = topView(ui);
  if (of === null) return lists.runs.of === null ? listRows(lists.runs) : [];
  return lists.runs.of === of
    ? listRows(lists.runs).filter(({ parentKey }) => parentKey === id)
    : [];
};

const createRunsPage = (name: 'pipelines' | 'runs', empty: readonly string[]): ScreenPage => {
  const listed = listPage<RunItem>({
    name,
    title: name === 'pipelines' ? 'Pipelines' : 'Runs of a stage',
    noun: 'run',
    list: 'runs',
    isWide: () => true,
    rows: shownRuns,
    item: (run) => ({
      id: run.id,
      name: run.name,
      words: `${run.status} ${run.templateId} ${run.error ?? ''}`,
      facts: { status: run.status, template: run.templateId },
    }),
    columns: (state) => [
      stateColumn('STATE', [9, 12, 0], (run) => formatRunStatus(state, run)),
      column('NAME', [14, 40, 0], (run) => run.name),
      numberColumn('STAGES', [6, 7, 2], (run) => formatRunProgress(state, run)),
      column('NOW', [26, 120, 1], (run) => formatCurrentStage(state, run)),
      numberColumn('AGE', [4, 5, 1], ({ createdAt }) => formatAge(createdAt, state.session.now)),
      column('TEMPLATE', [14, 24, 3], (run) => templateName(state, run)),
    ],
    detail: detailRows,
    empty,
    needs: (state, run) => listPageNeeds(topView(state.ui).of ?? null, run),
    opens: ({ id, stages }) => runPlace(id, (stages ?? []).find(needsPerson)?.key),
    acts: runActs,
    leaves: () => ({ add: name === 'pipelines' && ['pipelines', 'run'] }),
    summary: (_, rows) => {
      const having = (status: RunItem['status']) =>
        rows.filter((each) => each.status === status).length;
      return `${countedNoun(rows.length, 'run')}: ${having('running')} running, ${having('waiting')} waiting, ${having('failed')} failed`;
    },
    glossary: [['waiting', 'for you, or for a set time'], ...STAGE_WORDS],
  });
  return {
    ...listed,
    line: (state) => {
      const chosen = selectedItem(listed, state);
      return `adjutant pipelines ${chosen ? `get ${chosen.id}` : 'list'}`;
    },
  };
};

export const pipelinesPage: ScreenPage = createRunsPage('pipelines', [
  'No pipeline runs yet.',
  '  a  start one      adjutant pipelines run <template>',
]);

/** Runs started by a stage: one for each item, or the nested one. */
export const runsPage: ScreenPage = createRunsPage('runs', [
  'This stage has started no runs.',
  '  esc  back',
]);
