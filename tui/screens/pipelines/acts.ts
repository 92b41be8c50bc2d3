import type { PipelineRun } from '../../../src/client/index.js';
import type { Acts } from '../../page.js';
import { plainRowText } from '../../parts/row.js';
import { MAX_CHARACTERS } from '../../parts/text.js';
import type { Act } from '../../state/act.js';
import { actTarget } from '../../state/act.js';
import { isRunOver, type StageItem } from '../../state/pipelineruns.js';
import type { State } from '../../state/state.js';
import { possibleActs } from '../list.js';
import { shortDigest, stageRequestRows, stageRequestText } from './stage.js';

/** Time after a question has appeared in which keys have no effect, in milliseconds. */
const DEAD_MS = 700;
/** Rows of the terminal that stay free beside the text of a question. */
const FREE_ROWS = 12;
const INDENT = '| ';

export const runActs = (run: PipelineRun): Acts => {
  const { id, name } = run;
  const base = { ...actTarget('runs', id, 'stages'), isFree: true as const };
  return possibleActs({
    stop: !isRunOver(run) && {
      ...base,
      text: `Stop run ${name}`,
      hint: 'stop',
      line: `adjutant pipelines stop ${id}`,
      doing: 'stopping…',
      ask: { lines: [`Stop the run ${name} and all runs below it?`], deadMs: DEAD_MS },
      call: async ({ pipelines }) => {
        const { status } = await pipelines.stop({ id });
        return `${name}: ${status}`;
      },
    },
    replay: isRunOver(run) && {
      ...base,
      text: `Retry run ${name}`,
      line: `adjutant pipelines retry ${id}`,
      doing: 'retrying…',
      ask: {
        lines: [`Retry ${name} from the failed stages? Completed stages are kept.`],
        deadMs: DEAD_MS,
      },
      call: async ({ pipelines }) => {
        const { status } = await pipelines.retry({ id, body: {} });
        return `Retrying: ${name} is ${status}`;
      },
    },
  });
};

/**
 * If the stage waits for approval, its decision; else the actions of the run. `isRead`: the last
 * line of the request was on screen.
 */
export const stageActs = (stage: StageItem, state: State, isRead: boolean): Acts => {
  const { approve, stop } = stage.status === 'waiting_approval' ? answers(stage) : {};
  const acts = runActs(stage.run);
  if (!approve || !stop) return acts;
  return { ...acts, approve: shownWhole(approve, stage, { state, isRead }), stop };
};

const answers = (stage: StageItem): Record<'approve' | 'stop', Act> | Record<string, never> => {
  const { key, digest, run } = stage;
  if (digest === null) return {};
  const { id, name } = run;
  const base = { ...actTarget('stages', key, 'runs'), guard: digest };
  const what = `${key} ${shortDigest(stage)} of ${name}`;
  return {
    approve: {
      ...base,
      text: `Approve ${what}`,
      line: `adjutant pipelines approve ${id} ${key}`,
      doing: 'approving…',
      call: async ({ pipelines }) => {
        await pipelines.approve({ id, key, body: { digest } });
        return `Approved ${key} of ${name}`;
      },
    },
    stop: {
      ...base,
      text: `Deny ${what}`,
      hint: 'deny',
      line: `adjutant pipelines reject ${id} ${key}`,
      doing: 'denying…',
      ask: {
        lines: [`Deny ${what}? The stage fails.`],
        deadMs: DEAD_MS,
      },
      call: async ({ pipelines }) => {
        await pipelines.reject({ id, key, body: { digest } });
        return `Denied ${key} of ${name}`;
      },
    },
  };
};

/**
 * Adds the question with the full request. A request that does not fit must have been read above.
 * One that is too long for the desk cannot be approved here.
 */
const shownWhole = (
  act: Act,
  stage: StageItem,
  { state, isRead }: { state: State; isRead: boolean },
): Act => {
  const { width, height } = state.ui.size;
  const rows = stageRequestRows(stage, width - INDENT.length).map(
    (row) => `${INDENT}${plainRowText(row)}`,
  );
  const isShort = rows.length <= Math.max(1, height - FREE_ROWS);
  const whole = isShort ? rows : [`The ${rows.length} lines above, which you have read.`];
  const lines = [`${act.text}, exactly as shown?`, ...whole];
  const refusal = getRefusalReason({ act, stage, isRead: isShort || isRead });
  return { ...act, ask: { lines, deadMs: DEAD_MS }, ...(refusal !== null && { refusal }) };
};

const getRefusalReason = (of: { act: Act; stage: StageItem; isRead: boolean }): string | null => {
  if (stageRequestText(of.stage).length > MAX_CHARACTERS)
    return `Too long to show here. Use: ${of.act.line}`;
  return of.isRead ? null : 'Scroll to the end first: tab, then j';
};
