import { setTimeout as pause } from 'node:timers/promises';
import type { Client, PipelineRunDetail } from '../../src/client/index.js';
import { isReadAloud } from '../../src/client/session.js';
import type { Context } from '../command.js';
import type { CliOutput } from '../output.js';
import { cutToWidth, oneLine } from '../text.js';
import { asksIn, runTree, type StageOfRun } from './tree.js';

/** Ours: the time between two looks at a run that is followed. */
const LOOK_MS = 500;
/** The rows of a terminal that a tree leaves free, or it could not be drawn over. */
const FREE_ROWS = 3;
const CLEAR_BELOW = '\u001b[J';

/** Shows a run as it changes. */
interface RunView {
  show(run: PipelineRunDetail): void;
}

/**
 * Follows a run until it has ended or waits for a person. On a terminal its stages are a tree that is
 * drawn over as they change; elsewhere each change is a line.
 */
export const followRun = async (
  { out }: Context,
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
    await pause(LOOK_MS);
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
