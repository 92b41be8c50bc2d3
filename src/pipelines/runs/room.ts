import { stringifyExact } from '../../kernel/exactjson.js';
import type { StageBeginning } from './begin.js';
import type { AttemptOutcome } from './outcome.js';
import { MAX_INPUT_LENGTH } from './render.js';
import type { LoadedRun, RunStage } from './run.js';

/** Ours: the most characters of the output of a stage, and of all inputs and outputs of a run, as JSON. */
export const MAX_OUTPUT_LENGTH = 4 * MAX_INPUT_LENGTH;
const MAX_KEPT = 16 * MAX_INPUT_LENGTH;
const FULL = `The inputs and outputs of the run exceed ${MAX_KEPT} characters in total`;

/** Returns how many characters of inputs and outputs a run keeps beside those of a stage. */
const keptBeside = ({ stages }: LoadedRun, but: string): number =>
  [...stages].reduce(
    (all, [key, { input, output }]) =>
      key === but ? all : all + (input?.length ?? 0) + (output?.length ?? 0),
    0,
  );

/** Refuses the beginning of a stage for whose input its run has no room. */
export const beginningWithin = (
  run: LoadedRun,
  key: string,
  beginning: StageBeginning,
): StageBeginning | { fault: string } => {
  const { input } = beginning.change;
  const isFull = input != null && keptBeside(run, key) + input.length > MAX_KEPT;
  return isFull ? { fault: FULL } : beginning;
};

/** Turns an outcome into a failure if its output is too long, or its run has no room for it. */
export const outcomeWithin = ({ run, row }: RunStage, outcome: AttemptOutcome): AttemptOutcome => {
  if (outcome.status === 'failed' && outcome.output === undefined) return outcome;
  const { output, untrusted = false, usage } = outcome;
  const { length } = stringifyExact(output ?? null) ?? '';
  const isLong = length > MAX_OUTPUT_LENGTH;
  const kept = keptBeside(run, row.key) + (row.input?.length ?? 0);
  if (!isLong && kept + length <= MAX_KEPT) return outcome;
  if (outcome.status === 'failed') return { ...outcome, output: undefined };
  const long = `The output has ${length} characters. The maximum is ${MAX_OUTPUT_LENGTH}`;
  const error = isLong ? long : FULL;
  return { status: 'failed', error, isFinal: true, untrusted, ...(usage && { usage }) };
};
