import { setTimeout as pause } from 'node:timers/promises';
import type { Client, PipelineRunDetail } from '../../src/client/index.js';
import { isReadAloud } from '../../src/client/session.js';
import { type Context, on } from '../command.js';
import { Exit, interrupted } from '../exit.js';
import type { CliOutput } from '../output.js';
import { cutToWidth, oneLine } from '../text.js';
import { shortId } from './advice.js';
import { showOutcome } from './run.js';
import { asksIn, runTree, type StageOfRun } from './tree.js';

/** Ours: the time between two looks at a run that is followed. */
const LOOK_MS = 500;
/** The rows of a terminal that a tree leaves free, or it could not be drawn over. */
const FREE_ROWS = 3;
const CLEAR_BELOW = '\u001b[J';

/** The flag of the commands after which a run goes on. */
export const followFlag = on('Show the stages as they go; the exit code is that of the run');
/** The exit codes of what follows a run, for its help. */
export const FOLLOW_NOTE =
  'Followed, the exit code is 0 if the run completed, 1 if it failed or was stopped, 3 if it waits for you.';

/** Shows a run as it changes. */
interface RunView {
  show(run: PipelineRunDetail): void;
}

/**
 * Follows a run until it has ended or waits for a person, shows what became of it, and sets the exit
 * code. Interrupted: the run goes on.
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
    throw interrupted(`The run goes on. Follow it: adjutant pipelines follow ${shortId(run)}`);
  }
};

/**
 * Shows a run until it has ended or waits for a person. On a terminal its stages are a tree that is
 * drawn over as they change; elsewhere each change is a line.
 */
const watched = async (
  { out, signal }: Context,
  client: Client,
  id: string,
): Promise<PipelineRunDetail> => {
  let run = await client.pipelines.get({ id });
  const isTree = out.isTerminal && out.format === 'table' && !isReadAloud();
  const fits = run.stages.length + FREE_ROWS <= out.height;
  const view = isTree && fits ? createLiveTree(out) : createLines(out);
  for (;;) {
    view.show(run);
    if (run.finishedAt !== null || asksSomebody(run)) return run;
    await pause(LOOK_MS, undefined, { signal });
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
  const told = new Map<string, string>();
  return {
    show: ({ stages }) => {
      for (const stage of stages.filter(({ status }) => status !== 'pending')) {
        const line = stageLine(stage);
        if (told.get(stage.key) !== line) out.note(line);
        told.set(stage.key, line);
      }
    },
  };
};

const stageLine = ({ key, kind, status, reason, error }: StageOfRun): string => {
  const why = error ?? reason;
  return oneLine(`${key}  ${kind}  ${status}${why === null ? '' : `: ${why}`}`);
};

/** True if a run waits for a person, and not for its time alone. */
const asksSomebody = ({ stages }: PipelineRunDetail): boolean =>
  stages.some(
    ({ status, reason }) =>
      status.startsWith('waiting') || (status === 'running' && asksIn(reason)),
  );
