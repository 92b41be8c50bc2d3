import { stageBranches } from '../../../cli/pipelines/tree.js';
import type { ScreenPage } from '../../page.js';
import { markedRows } from '../../parts/marks.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { column, numberColumn, type ScreenColumn, uncutColumn } from '../../parts/table.js';
import { countedNoun, formatDollars } from '../../parts/text.js';
import { computeBodySize } from '../../state/layout.js';
import { listRows } from '../../state/lists.js';
import {
  agentTarget,
  type JumpTarget,
  operationPageTarget,
  type ScreenPlace,
} from '../../state/locations.js';
import type { StageItem } from '../../state/pipelineruns.js';
import { selectedItem } from '../../state/selection.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { findStateTone } from '../../theme.js';
import { listPage } from '../list.js';
import { stageActs } from './acts.js';
import {
  isStageOver,
  needsPerson,
  signedState,
  stageDuration,
  stageReason,
  stageRows,
  stageTone,
  treeLines,
} from './stage.js';

/** The socket reports changes. This interval is for missed events. */
const EVERY_MS = 15_000;

/** Signs of the states, explained in the help. */
export const STAGE_WORDS = [
  ['?', 'the stage waits for you'],
  ['* and .', 'the stage is running; it has not started'],
  ['+ and !', 'the stage has completed; it has failed'],
  ['- and x', 'the stage was skipped; it was stopped'],
] as const;

const stageColumns = (state: State): ScreenColumn<StageItem>[] => {
  const { lists, session } = state;
  const branches = new Map(
    stageBranches(listRows(lists.stages)).map(({ stage, lines, others }) => [
      stage.key,
      { lines, others },
    ]),
  );
  const alsoNeeds = ({ key }: StageItem): string => {
    const others = branches.get(key)?.others ?? [];
    return others.length === 0 ? '' : `also needs ${others.join(', ')}`;
  };
  return [
    {
      ...uncutColumn(
        column<StageItem>(
          'STAGE',
          [12, 120, 0],
          ({ key }) => treeLines(branches.get(key)?.lines ?? '') + key,
        ),
        0.5,
      ),
      said: ({ key }) => key,
    },
    {
      ...column<StageItem>(
        'STATE',
        [18, 18, 0],
        (stage) => lists.stages.busy[stage.id] ?? signedState(stage),
      ),
      said: ({ id, status }) => lists.stages.busy[id] ?? status,
      tone: stageTone,
    },
    column('KIND', [8, 10, 3], ({ kind }) => kind),
    uncutColumn(numberColumn('TOOK', [4, 8, 2], (stage) => stageDuration(stage, session.now))),
    column('REASON', [14, 200, 1], (stage) =>
      [stageReason(stage), alsoNeeds(stage)].filter((text) => text !== '').join('   '),
    ),
  ];
};

const getStageJumpTarget = ({ agentId, operationId }: StageItem): JumpTarget | null => {
  if (agentId !== null) return agentTarget(agentId);
  return operationId === null ? null : operationPageTarget(operationId);
};

/** Runs started by a stage of a kind that starts runs. */
const placeBelow = ({ kind, key, run }: StageItem): ScreenPlace | null =>
  kind === 'foreach' || kind === 'pipeline' ? { page: 'runs', id: key, of: run.id } : null;

/** Whether the last line of the selected request is or was on screen. */
const isRead = (state: State, { digest }: StageItem): boolean => {
  if (digest !== null && state.approvals.seen.includes(digest)) return true;
  if (topView(state.ui).isRaw) return false;
  const size = computeBodySize(state);
  const text = runPage.text?.(state, size.width);
  const seen = topView(state.ui).scroll + (runPage.textHeight?.(state, size) ?? 0);
  return text ? seen >= text.length : false;
};

const firstStage = (state: State): StageItem | null => listRows(state.lists.stages)[0] ?? null;

const headRow = (state: State): ScreenRow | null => {
  const first = firstStage(state);
  if (!first) return null;
  const { id, name, status, usage, error } = first.run;
  const word = state.lists.runs.busy[id] ?? status;
  return row(
    tonedSpan('strong', name),
    '   ',
    tonedSpan(findStateTone(word), word),
    `   ${formatDollars(usage.costUsd)}`,
    ...(error === null ? [] : ['   ', tonedSpan('danger', error)]),
  );
};

const listed: ScreenPage = listPage<StageItem>({
  name: 'run',
  title: 'Run',
  noun: 'stage',
  list: 'stages',
  isWide: () => true,
  rows: ({ lists }) => stageBranches(listRows(lists.stages)).map(({ stage }) => stage),
  item: (stage) => ({
    id: stage.id,
    name: stage.key,
    words: `${stage.name} ${stage.kind} ${stage.status} ${stageReason(stage)}`,
    facts: { status: stage.status, kind: stage.kind },
  }),
  columns: stageColumns,
  detail: (state, stage, width) =>
    topView(state.ui).isRaw
      ? markedRows(JSON.stringify({ ...stage, run: undefined }, null, 2), [], width)
      : stageRows(state, stage, width),
  end: (stage, hidden) => {
    if (hidden > 0)
      return tonedSpan('muted', `-- ${countedNoun(hidden, 'more row')}: tab, then j --`);
    return tonedSpan('muted', stage.digest === null ? '' : 'The whole request is shown.');
  },
  empty: ['This run no longer exists.', '  esc  back'],
  pages: () => null,
  needs: ({ ui }) => [
    { is: 'list', list: 'stages', of: topView(ui).id, everyMs: EVERY_MS },
    { is: 'channel', channel: 'pipeline.stage' },
  ],
  opens: placeBelow,
  related: getStageJumpTarget,
  acts: (stage, state) => stageActs(stage, state, isRead(state, stage)),
  leaves: (stage) => ({
    message: stage?.status === 'waiting_input' && ['pipelines', 'input', stage.run.id, stage.key],
  }),
  noticed: (stage, state) =>
    stage.digest !== null && !state.approvals.seen.includes(stage.digest) && isRead(state, stage)
      ? { type: 'approval.seen', digest: stage.digest }
      : null,
  summary: (state, stages) => {
    const first = firstStage(state);
    if (!first) return '';
    const waiting = stages.filter(needsPerson).length;
    const asks = waiting === 0 ? '' : `, ${waiting} ${waiting === 1 ? 'waits' : 'wait'} for you`;
    const done = stages.filter(isStageOver).length;
    const { name, status, usage } = first.run;
    return `${name}: ${status}, ${done} of ${stages.length} stages done${asks}, ${formatDollars(usage.costUsd)}`;
  },
  glossary: STAGE_WORDS,
});

export const runPage: ScreenPage = {
  ...listed,
  head: (state) => {
    const head = headRow(state);
    return head ? [head] : [];
  },
  line: (state) => {
    const { id } = topView(state.ui);
    const stage = selectedItem(listed, state);
    const chosen = stage ? state.lists.stages.byId[stage.id] : undefined;
    return chosen?.status === 'waiting_approval'
      ? `adjutant pipelines approve ${id} ${chosen.key}`
      : `adjutant pipelines get ${id}`;
  },
};
