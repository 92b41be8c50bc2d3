import { parseExact } from '../../kernel/exactjson.js';
import type { ChildRunsStore } from './childqueries.js';
import { lastOutputs } from './end.js';
import type { AttemptOutcome } from './outcome.js';
import type { RunsStore } from './queries.js';
import type { RunStage } from './run.js';
import { MAX_OUTPUT_LENGTH } from './sizelimits.js';

interface ChildOutcomeDeps {
  runs: RunsStore;
  children: ChildRunsStore;
}

interface ChildProgress {
  done: number;
  total: number;
  waiting: number;
}

export const childProgressText = async (
  children: Pick<ChildRunsStore, 'open'>,
  { stage, row }: RunStage,
  { done, total, waiting }: ChildProgress,
): Promise<string | null> => {
  if (stage.kind === 'foreach') {
    const rest = waiting > 0 ? `; ${waiting} are waiting` : '';
    return `${done} of ${total} items are done${rest}`;
  }
  const [id] = waiting > 0 ? await children.open(row) : [];
  return id === undefined ? null : `The nested run ${id} is waiting`;
};

export const childFailure = async (
  children: Pick<ChildRunsStore, 'firstFailed' | 'isUntrusted'>,
  { row }: RunStage,
): Promise<AttemptOutcome> => {
  const first = await children.firstFailed(row);
  const untrusted = await children.isUntrusted(row);
  const name = first?.item_at === null ? 'the nested run' : `items[${first?.item_at}]`;
  const outcome = first?.status === 'stopped' ? 'was stopped' : `failed: ${first?.error}`;
  return { status: 'failed', error: `${name} ${outcome}`, untrusted };
};

export const childSuccess = async (
  { runs, children }: ChildOutcomeDeps,
  { stage, row }: RunStage,
): Promise<AttemptOutcome> => {
  const untrusted = await children.isUntrusted(row);
  if (stage.kind === 'foreach') {
    const length = await children.outputLength(row);
    if (length > MAX_OUTPUT_LENGTH) {
      const error = `The outputs have ${length} characters. The maximum is ${MAX_OUTPUT_LENGTH}`;
      return { status: 'failed', error, isFinal: true, untrusted };
    }
    const outputs = await children.itemOutputs(row);
    const output = outputs.map((each) => (each === null ? null : parseExact(each)));
    return { status: 'completed', output, untrusted, reason: null };
  }
  const [id] = await children.completed(row);
  const run = id === undefined ? null : await runs.byId(id);
  return { status: 'completed', output: run ? lastOutputs(run) : {}, untrusted, reason: null };
};
