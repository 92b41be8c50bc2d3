import type { Client, PipelineRunDetail } from '../../src/client/index.js';
import { usesScreenReader } from '../../src/client/session.js';
import { type Context, switchFlag } from '../command.js';
import { Exit, interrupted } from '../exit.js';
import type { CliOutput } from '../output.js';
import { cutToWidth, oneLine } from '../text.js';
import { shortId } from './advice.js';
import { showOutcome } from './run.js';
import { needsPersonReason, runTree, type StageOfRun } from './tree.js';

/** Polling interval. */
const POLL_MS = 500;
/** Rows of the terminal to leave free, so that the tree can be redrawn. */
const FREE_ROWS = 3;
const CLEAR_BELOW = '\u001b[J';

export const followFlag = switchFlag(
  'Follow the stages of the run. The exit code is the result of the run',
);
export const FOLLOW_NOTE =
  'Exit code of a followed run: 0 completed, 1 failed or stopped, 3 waiting for you.';

interface RunView {
  show(run: PipelineRunDetail): void;
}

/**
 * Follows a run until it ends or waits for a person, shows the outcome and sets the exit code. ^C
 * leaves the run running.
 */
export const followRun = async (
  context: Context,
  client: Client,
  run: Pick<PipelineRunDetail, 'id' | 'parentId'>,
): Promise<void> => {
  try {
    const last = await watched(context, client, run.id);
    if (last.finishedAt === null) context.exitCode = Exit.waiting;
    else if (last.status !== 'completed') context.exitCode = Exit.failed;
    showOutcome(context, last);
  } catch (error) {
    if (!context.signal.aborted) throw error;
    throw interrupted(`The run continues. Follow it: adjutant pipelines follow ${shortId(run)}`);
  }
};

/**
 * Shows a run until it ends or waits for a person: as a redrawn tree on a terminal, elsewhere as
 * a line per change.
 */
const watched = async (
  { out, signal, clock }: Context,
  client: Client,
  id: string,
): Promise<PipelineRunDetail> => {
  let run = await client.pipelines.get({ id });
  const isTree = out.isTerminal && out.format === 'table' && !usesScreenReader();
  const fits = run.stages.length + FREE_ROWS <= out.height;
  const view = isTree && fits ? createLiveTree(out) : createLines(out);
  for (;;) {
    view.show(run);
    if (run.finishedAt !== null || needsPerson(run)) return run;
    await clock.wait(POLL_MS, signal);
    run = await client.pipelines.get({ id });
  }
};

const createLiveTree = (out: Pick<CliOutput, 'piece' | 'width'>): RunView => {
  let shown = 0;
  return {
    show: (run) => {
      const lines = runTree(run).map((line) => cutToWidth(line, out.width - 1));
      const up = shown > 0 ? `\r\u001b[${shown}A${CLEAR_BELOW}` : '';
      out.piece(`${up}${lines.join('\n')}\n`);
      shown = lines.length;
    },
  };
};

const createLines = (out: Pick<CliOutput, 'note'>): RunView => {
  const printedLines = new Map<string, string>();
  return {
    show: ({ stages }) => {
      for (const stage of stages.filter(({ status }) => status !== 'pending')) {
        const line = stageLine(stage);
        if (printedLines.get(stage.key) !== line) out.note(line);
        printedLines.set(stage.key, line);
      }
    },
  };
};

const stageLine = ({ key, kind, status, reason, error }: StageOfRun): string => {
  const why = error ?? reason;
  return oneLine(`${key}  ${kind}  ${status}${why === null ? '' : `: ${why}`}`);
};

/** Whether a run waits for a person, and not only for a time. */
const needsPerson = ({ stages }: PipelineRunDetail): boolean =>
  stages.some(
    ({ status, reason }) =>
      status.startsWith('waiting') || (status === 'running' && needsPersonReason(reason)),
  );
