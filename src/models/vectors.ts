import Boom from '@hapi/boom';
import type { FieldFault } from '../kernel/problem.js';
import type { ModelChanges, NewModel, RoutingChanges } from './contract.js';
import type { ModelsDeps } from './deps.js';
import type { GivenEmbedding } from './facts.js';
import { EMBEDDINGS, type Registry } from './registry.js';

/** Defaults. */
const PRESET = { queryPrefix: '', documentPrefix: '', maxInputTokens: 512, weight: 0.5 };
/** Usual characters per token. */
const TOKEN_CHARACTERS = 4;

export const mergeEmbedding = (given: GivenEmbedding, before: string | null): GivenEmbedding => ({
  ...PRESET,
  ...(before === null ? {} : JSON.parse(before)),
  ...given,
});

const routedEmbedder = ({ routes }: Pick<Registry, 'routes'>): string | undefined =>
  routes().find(({ topic }) => topic === EMBEDDINGS)?.primary;

/** Only a route can set the topic for embeddings, because it asks for confirmation. */
export const embedderTopicFaults = (
  { registry }: ModelsDeps,
  { name, topics = [] }: Pick<NewModel, 'name' | 'topics'>,
): FieldFault[] => {
  const at = topics.indexOf(EMBEDDINGS);
  if (at < 0 || routedEmbedder(registry) === name) return [];
  const message =
    'must be set with adjutant models routing set embeddings, which shows the consequences';
  return [{ path: `topics.${at}`, message }];
};

/** Vectors, or the destination of all texts, depend on these fields. */
const FIXED = ['provider', 'modelId', 'baseUrl', 'embedding'] as const;

/** Its weight and input length may change. */
export const assertEmbedderUnused = (
  { registry }: ModelsDeps,
  name: string,
  given: ModelChanges,
): void => {
  if (routedEmbedder(registry) !== name) return;
  const { weight: _weight, maxInputTokens: _most, ...others } = given.embedding ?? {};
  const isHarmless = given.embedding && Object.keys(others).length === 0;
  const changed = FIXED.filter((key) => given[key] !== undefined);
  if (changed.length === 0 || (isHarmless && changed.length === 1)) return;
  throw Boom.conflict(
    `${name} is the active embedding model, so ${changed.join(', ')} cannot be changed. Route embeddings to another model first, or return to the built-in embedder: adjutant models routing remove embeddings`,
    { code: 'embedder_in_use' },
  );
};

/** The error states the cost. */
export const assertRoutingConfirmed = async (
  { registry, amountOfTexts }: ModelsDeps,
  { topics, confirm }: RoutingChanges,
): Promise<void> => {
  const next = topics?.find(({ topic }) => topic === EMBEDDINGS)?.primary;
  if (next === undefined || next === routedEmbedder(registry) || confirm) return;
  const { baseUrl, provider, price } = registry.find(next) ?? {};
  const { users, chunks, chars } = await amountOfTexts();
  const tokens = Math.ceil(chars / TOKEN_CHARACTERS);
  const usd = price && Math.ceil(tokens * price.inputPerMTok) / 1e6;
  const isHere = provider === 'llama' || (provider === 'ollama' && baseUrl === null);
  const target = isHere ? `processed by ${next} on this machine` : `sent to ${baseUrl ?? provider}`;
  const paid = usd ? `about ${usd} USD, charged to the daily limits of the users` : 'price unknown';
  const cost = isHere ? 'free of charge' : paid;
  throw Boom.conflict(
    `All existing and future texts of all users will be ${target}: currently ${chunks} chunks of ${users} users, about ${tokens} tokens, ${cost}. Pass confirm: true to confirm.`,
    { code: 'confirm_needed' },
  );
};
