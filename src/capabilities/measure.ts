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

/** Tokens written in replies, or read to compute embeddings. */
export type SpeedUnit = 'written' | 'read';

/** In tokens per second. */
export interface MeasuredSpeed {
  median: number;
  /** Difference between the fastest and the slowest run, as a fraction of the median. */
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

/** Measured runs, after one warm-up run. */
const RUNS = 5;
const TOKENS = 64;
const PROMPT = 'Count from one to one hundred in words, and write nothing else.';
/** Texts per run of an embedding model, each as long as a knowledge chunk. */
const TEXTS = 8;
const TEXT_TOKENS = 256;
/** Includes loading the model. */
const READING_MS = 600_000;
/** With fewer tokens the resolution of the clock dominates. */
const MIN_TOKENS = 16;
const UNSTEADY = 0.15;

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
        const rate = await measureTokenRate(entry, run, { signal, clock });
        if (run > 0) rates.push(rate);
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ModelFailure || error instanceof TooShort)) throw error;
      return { status: 'failed', error: error.message };
    }
    const { median, spread } = computeRateSummary(rates);
    const speed = { unit: getSpeedUnit(entry), median, spread };
    progress({ done: RUNS + 1, total: RUNS + 1, unit: 'runs', note: speedNote(speed) });
    const { contextWindow } = entry;
    await speeds.keep(buildSpeedKey(entry), {
      median,
      spread,
      contextWindow,
      at: iso(clock.now()),
    });
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

const getSpeedUnit = ({ embedder }: Pick<RegisteredModel, 'embedder'>): SpeedUnit =>
  embedder ? 'read' : 'written';

class TooShort extends Error {}

interface RunLimits {
  signal: AbortSignal;
  clock: Clock;
}

const measureTokenRate = (
  { model, embedder, embedding }: RegisteredModel,
  run: number,
  limits: RunLimits,
): Promise<number> => {
  if (!embedder) return writingRate(model, limits.signal);
  const most = Math.min(TEXT_TOKENS, embedding?.maxInputTokens ?? TEXT_TOKENS);
  const texts = Array.from({ length: TEXTS }, (_, at) => buildSampleText(run * TEXTS + at, most));
  return readingRate(embedder, texts, limits);
};

/** Each text begins differently, so that no cache applies. */
const buildSampleText = (number: number, tokens: number): string =>
  cutToTokens(
    `Text ${number}. ${'A chapter about the sea and its ships. '.repeat(tokens)}`,
    tokens,
  );

const readingRate = async (
  embedder: EmbeddingModel,
  texts: string[],
  { signal, clock }: RunLimits,
): Promise<number> => {
  const limit = clock.deadline(READING_MS);
  const since = performance.now();
  const { inputTokens } = await embedder.embed(texts, AbortSignal.any([signal, limit]));
  const seconds = (performance.now() - since) / 1000;
  if (inputTokens === 0 || seconds <= 0)
    throw new TooShort(
      'The model processed too few prompt tokens to measure the speed. Measure the model again',
    );
  return inputTokens / seconds;
};

/** Measured from the first token on. */
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
    throw new TooShort(
      `The model generated too few tokens to measure the speed: ${wrote}. The speed of a model with such short replies cannot be measured`,
    );
  }
  // The first token ends the prompt processing.
  return (usage.outputTokens - 1) / seconds;
};

export const computeRateSummary = (rates: number[]): { median: number; spread: number } => {
  const sorted = rates.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
  const width = (sorted.at(-1) ?? 0) - (sorted[0] ?? 0);
  return { median: rounded(median), spread: median === 0 ? 0 : rounded(width / median) };
};

const rounded = (value: number): number => Number(value.toPrecision(4));

/** Keyed by the model itself, not by its registered name. */
export const speedKey = (model: string, unit: SpeedUnit): string =>
  unit === 'read' ? `read:${model}` : model;

const buildSpeedKey = (entry: Pick<RegisteredModel, 'provider' | 'modelId' | 'embedder'>): string =>
  speedKey(`${entry.provider}:${entry.modelId}`, getSpeedUnit(entry));

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

/** Specific to this machine, so backups do not contain it. */
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
