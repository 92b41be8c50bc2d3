import { contracts, type PipelineRun, type PipelineRunDetail } from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import type { Context } from '../command.js';
import { crud } from '../crud.js';
import { answerHints } from './advice.js';
import { runKind } from './kind.js';
import { runTree } from './tree.js';

const endpoints = await contracts.pipelines();

export const runColumns = buildColumns<PipelineRun>(
  ['id:data', 'short=id:tail', 'status:state', 'name', 'error'],
  {
    name: 'cost',
    value: ({ usage }) => usage.costUsd,
    show: ({ usage }) => `$${usage.costUsd.toFixed(2)}`,
  },
  ['started=createdAt:ago'],
);

export const runCrud = crud({
  noun: 'pipeline',
  argument: 'run',
  rows: 'pipelines',
  path: 'pipelines',
  endpoints,
  columns: runColumns,
  named: (row) => row,
  kind: runKind,
});

export const showRun = ({ out }: Context, run: PipelineRunDetail): void => {
  if (out.format !== 'table' || out.isChosen) {
    out.item(run, runColumns);
    return;
  }
  showHead(out, run);
  for (const line of runTree(run)) out.line(`  ${line}`);
  for (const line of answerHints(run)) out.note(line);
};

/** Shows the outcome of a run whose stages are already on the terminal. */
export const showOutcome = (context: Context, run: PipelineRunDetail): void => {
  const { out } = context;
  if (out.format !== 'table' || out.isChosen) {
    showRun(context, run);
    return;
  }
  showHead(out, run);
  for (const line of answerHints(run)) out.note(line);
};

const showHead = (out: Context['out'], { name, status, error }: PipelineRunDetail): void =>
  out.sentence(`${name}: ${status}${error === null ? '' : `, ${error}`}`);
