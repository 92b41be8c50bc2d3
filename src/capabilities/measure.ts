import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import Joi from 'joi';
import { type Clock, iso } from '../kernel/clock.js';
import { parsedJson } from '../kernel/jsonvalue.js';
import type { RegisteredModel } from '../models/module.js';
import type { OperationEnd, OperationKind } from '../operations/module.js';
import { type Model, ModelFailure, type ModelRequest } from '../providers/llm/model.js';

/** The speed of a model on this machine, in tokens per second. */
export interface MeasuredSpeed {
  median: number;
  /** The difference of the fastest and the slowest run, as a part of the median. */
  spread: number;
  contextWindow: number;
  at: string;
}

export interface MeasureInput {
  model: string;
}

interface MeasureDeps {
  clock: Clock;
  find(name: string): RegisteredModel | undefined;
  speeds: Speeds;
}

/** Ours: so many runs are measured, of so many tokens, after one that is not. */
const RUNS = 5;
const TOKENS = 64;
const PROMPT = 'Count from one to one hundred in words, and write nothing else.';
/** Ours: from this spread on a speed is unsteady. */
const UNSTEADY = 0.15;

/** The kind of operation that measures how fast a model writes on this machine. */
export const measureOperation = ({
  clock,
  find,
  speeds,
}: MeasureDeps): OperationKind<MeasureInput, never> => ({
  kind: 'capabilities.measure',
  isResumable: true,
  isAdmins: true,
  most: 5,
  run: async ({ input, signal, progress }): Promise<OperationEnd> => {
    const entry = find(input.model);
    if (!entry) return { status: 'failed', error: `There is no model ${input.model} any more` };
    const rates: number[] = [];
    try {
      for (let run = 0; run <= RUNS; run++) {
        progress({ done: run, total: RUNS + 1, unit: 'runs', note: run === 0 ? 'loading' : null });
        const rate = await rateOf(entry.model, signal);
        if (run > 0) rates.push(rate);
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ModelFailure || error instanceof TooShort)) throw error;
      return { status: 'failed', error: error.message };
    }
    const { median, spread } = summaryOf(rates);
    progress({ done: RUNS + 1, total: RUNS + 1, unit: 'runs', note: speedNote(median, spread) });
    const { contextWindow } = entry;
    await speeds.keep(keyOf(entry), { median, spread, contextWindow, at: iso(clock.now()) });
    const isSteady = spread <= UNSTEADY;
    return { status: 'completed', result: { tokensPerSecond: { median, spread }, isSteady } };
  },
});

const speedNote = (median: number, spread: number): string => {
  const unsteady = spread > UNSTEADY ? ', unsteady' : '';
  return `${median} tokens a second, ± ${Math.round(spread * 50)} %${unsteady}`;
};

class TooShort extends Error {}

/** Returns the tokens per second of one reply, from its first text on. */
const rateOf = async (model: Model, signal: AbortSignal): Promise<number> => {
  let first: number | null = null;
  let pieces = 0;
  const request: ModelRequest = {
    turns: [{ role: 'user', content: PROMPT }],
    tools: [],
    maxOutputTokens: TOKENS,
    signal,
    onText: () => {
      first ??= performance.now();
      pieces++;
    },
  };
  const { usage } = await model.step(request);
  const seconds = first === null ? 0 : (performance.now() - first) / 1000;
  if (first === null || usage.outputTokens < 2 || pieces < 2 || seconds <= 0) {
    throw new TooShort('It wrote too little to measure its speed');
  }
  // The first token ends the reading of the prompt.
  return (usage.outputTokens - 1) / seconds;
};

/** Returns the median, and the spread between the fastest and the slowest as a part of it. */
export const summaryOf = (rates: number[]): { median: number; spread: number } => {
  const sorted = rates.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
  const width = (sorted.at(-1) ?? 0) - (sorted[0] ?? 0);
  return { median: rounded(median), spread: median === 0 ? 0 : rounded(width / median) };
};

const rounded = (value: number): number => Number(value.toPrecision(4));

/** The name of a model that is the same whatever it is registered as. */
const keyOf = ({ provider, modelId }: Pick<RegisteredModel, 'provider' | 'modelId'>) =>
  `${provider}:${modelId}`;

/** Makes the schema of the file, when it is read. */
const makeSchema = () =>
  Joi.object<Record<string, MeasuredSpeed>>().pattern(
    Joi.string().max(300),
    Joi.object({
      median: Joi.number().min(0).required(),
      spread: Joi.number().min(0).required(),
      contextWindow: Joi.number().integer().min(0).required(),
      at: Joi.string().max(40).required(),
    }),
  );

/** Opens the speeds that were measured here. They are of this machine, so no backup has them. */
export const openSpeeds = (root: string) => {
  const file = join(root, '.measured.json');
  const read = async (): Promise<Record<string, MeasuredSpeed>> => {
    const text = await readFile(file, 'utf8').catch(() => '{}');
    const { value, error } = makeSchema().validate(parsedJson(text));
    return error ? {} : value;
  };
  let writing = Promise.resolve();
  return {
    read,
    keep: (key: string, speed: MeasuredSpeed): Promise<void> => {
      writing = writing
        .catch(() => undefined)
        .then(async () => {
          const all = { ...(await read()), [key]: speed };
          await mkdir(dirname(file), { recursive: true, mode: 0o700 });
          await writeFile(`${file}.new`, JSON.stringify(all));
          await rename(`${file}.new`, file);
        });
      return writing;
    },
  };
};

export type Speeds = ReturnType<typeof openSpeeds>;
