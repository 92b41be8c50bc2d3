import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import Joi from 'joi';
import { type Clock, iso } from '../kernel/clock.js';
import { parsedJson } from '../kernel/jsonvalue.js';
import type { RegisteredModel } from '../models/module.js';
import type { OperationEnd, OperationKind } from '../operations/module.js';
import type { EmbeddingModel } from '../providers/llm/embeddings.js';
import { type Model, ModelFailure, type ModelRequest } from '../providers/llm/model.js';
import { cutToTokens } from '../providers/llm/tokens.js';

/** The tokens that a speed counts: those that a model writes, or reads to make a vector of them. */
export type SpeedUnit = 'written' | 'read';

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
/** Ours: a model for vectors reads so many texts in a run, each as long as a piece of knowledge. */
const TEXTS = 8;
const TEXT_TOKENS = 256;
/** Ours: the longest time of one such run with the load of the model before it, in milliseconds. */
const READING_MS = 600_000;
/** Ours: the time of fewer tokens says more of the clock than of the model. */
const MIN_TOKENS = 16;
/** Ours: from this spread on a speed is unsteady. */
const UNSTEADY = 0.15;

/** The kind of operation that measures how fast a model writes, or reads, on this machine. */
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
    if (!entry) return { status: 'failed', error: `Model ${input.model} no longer exists` };
    const rates: number[] = [];
    try {
      for (let run = 0; run <= RUNS; run++) {
        progress({ done: run, total: RUNS + 1, unit: 'runs', note: run === 0 ? 'loading' : null });
        const rate = await rateOf(entry, run, signal);
        if (run > 0) rates.push(rate);
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ModelFailure || error instanceof TooShort)) throw error;
      return { status: 'failed', error: error.message };
    }
    const { median, spread } = summaryOf(rates);
    const speed = { unit: unitOf(entry), median, spread };
    progress({ done: RUNS + 1, total: RUNS + 1, unit: 'runs', note: speedNote(speed) });
    const { contextWindow } = entry;
    await speeds.keep(keyOf(entry), { median, spread, contextWindow, at: iso(clock.now()) });
    const isSteady = spread <= UNSTEADY;
    return { status: 'completed', result: { tokensPerSecond: speed, isSteady } };
  },
});

interface UnitSpeed {
  unit: SpeedUnit;
  median: number;
  spread: number;
}

const speedNote = ({ unit, median, spread }: UnitSpeed): string => {
  const unsteady = spread > UNSTEADY ? ', unsteady' : '';
  return `${median} tokens ${unit} per second, ± ${Math.round(spread * 50)} %${unsteady}`;
};

const unitOf = ({ embedder }: Pick<RegisteredModel, 'embedder'>): SpeedUnit =>
  embedder ? 'read' : 'written';

class TooShort extends Error {}

/** Returns the tokens per second of one run. */
const rateOf = (
  { model, embedder, embedding }: RegisteredModel,
  run: number,
  signal: AbortSignal,
): Promise<number> => {
  if (!embedder) return writingRate(model, signal);
  const most = Math.min(TEXT_TOKENS, embedding?.maxInputTokens ?? TEXT_TOKENS);
  const texts = Array.from({ length: TEXTS }, (_, at) => textOf(run * TEXTS + at, most));
  return readingRate(embedder, texts, signal);
};

/** Makes a text of so many tokens that begins like no other, so that no cache knows it. */
const textOf = (number: number, tokens: number): string =>
  cutToTokens(
    `Text ${number}. ${'A chapter about the sea and its ships. '.repeat(tokens)}`,
    tokens,
  );

/** Returns the tokens per second that are read of texts for their vectors. */
const readingRate = async (
  embedder: EmbeddingModel,
  texts: string[],
  signal: AbortSignal,
): Promise<number> => {
  const limit = AbortSignal.timeout(READING_MS);
  const since = performance.now();
  const { inputTokens } = await embedder.embed(texts, AbortSignal.any([signal, limit]));
  const seconds = (performance.now() - since) / 1000;
  if (inputTokens === 0 || seconds <= 0)
    throw new TooShort('The model read too few tokens to measure its speed');
  return inputTokens / seconds;
};

/** Returns the tokens per second of one reply, from its first text on. */
const writingRate = async (model: Model, signal: AbortSignal): Promise<number> => {
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
  if (first === null || usage.outputTokens < MIN_TOKENS || pieces < 2 || seconds <= 0) {
    const wrote = `${usage.outputTokens} tokens, minimum ${MIN_TOKENS}`;
    throw new TooShort(`The model wrote too few tokens to measure its speed: ${wrote}`);
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

/** Returns the name of a speed, by that of the model, which is the same whatever it is registered as. */
export const speedKey = (model: string, unit: SpeedUnit): string =>
  unit === 'read' ? `read:${model}` : model;

const keyOf = (entry: Pick<RegisteredModel, 'provider' | 'modelId' | 'embedder'>): string =>
  speedKey(`${entry.provider}:${entry.modelId}`, unitOf(entry));

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
