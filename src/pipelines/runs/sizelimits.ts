import { stringifyExact } from '../../kernel/exactjson.js';
import type { StageBeginning } from './begin.js';
import type { AttemptOutcome } from './outcome.js';
import { MAX_INPUT_LENGTH } from './render.js';
import type { LoadedRun, RunStage } from './run.js';

/** Maximum length of the output of a stage, and of all inputs and outputs of a run, as JSON. */
export const MAX_OUTPUT_LENGTH = 4 * MAX_INPUT_LENGTH;
const MAX_KEPT = 16 * MAX_INPUT_LENGTH;
const FULL = `The inputs and outputs of the run exceed ${MAX_KEPT} characters in total`;

const storedLengthWithout = ({ stages }: LoadedRun, but: string): number =>
  [...stages].reduce(
    (all, [key, { input, output }]) =>
      key === but ? all : all + (input?.length ?? 0) + (output?.length ?? 0),
    0,
  );

export const limitBeginning = (
  run: LoadedRun,
  key: string,
  beginning: StageBeginning,
): StageBeginning | { fault: string } => {
  const { input } = beginning.change;
  const isFull = input != null && storedLengthWithout(run, key) + input.length > MAX_KEPT;
  return isFull ? { fault: FULL } : beginning;
};

export const limitOutcome = ({ run, row }: RunStage, outcome: AttemptOutcome): AttemptOutcome => {
  if (outcome.status === 'failed' && outcome.output === undefined) return outcome;
  const { output, untrusted = false, usage } = outcome;
  const { length } = stringifyExact(output ?? null) ?? '';
  const isLong = length > MAX_OUTPUT_LENGTH;
  const storedLength = storedLengthWithout(run, row.key) + (row.input?.length ?? 0);
  if (!isLong && storedLength + length <= MAX_KEPT) return outcome;
  if (outcome.status === 'failed') return { ...outcome, output: undefined };
  const long = `The output has ${length} characters. The maximum is ${MAX_OUTPUT_LENGTH}`;
  const error = isLong ? long : FULL;
  return { status: 'failed', error, isFinal: true, untrusted, ...(usage && { usage }) };
};
