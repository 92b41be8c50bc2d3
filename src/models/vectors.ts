import Boom from '@hapi/boom';
import type { FieldFault } from '../kernel/problem.js';
import type { ModelChanges, NewModel, RoutingChanges } from './contract.js';
import type { GivenEmbedding } from './facts.js';
import { EMBEDDINGS, type Registry } from './registry.js';
import type { ModelsDeps } from './service.js';

/** Ours: the facts of vectors of which an admin says nothing. */
const PRESET = { queryPrefix: '', documentPrefix: '', maxInputTokens: 512, weight: 0.5 };
/** The usual characters of a token. */
const TOKEN_CHARACTERS = 4;

/** Returns the facts of a model's vectors: those that are given, and else those from before. */
export const mergedEmbedding = (given: GivenEmbedding, before: string | null): GivenEmbedding => ({
  ...PRESET,
  ...(before === null ? {} : JSON.parse(before)),
  ...given,
});

/** Returns the name of the model that is routed to embeddings, if there is one. */
const routedEmbedder = ({ routes }: Pick<Registry, 'routes'>): string | undefined =>
  routes().find(({ topic }) => topic === EMBEDDINGS)?.primary;

/** Lists the fault of a model that is given the topic for vectors, which only a route gives. */
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

/** Fields on which vectors, or the place to which all texts go, depend. */
const FIXED = ['provider', 'modelId', 'baseUrl', 'embedding'] as const;

/**
 * Refuses to change what makes the vectors of all texts into another model. Its weight and the length
 * of its input may change.
 */
export const refuseInUse = ({ registry }: ModelsDeps, name: string, given: ModelChanges): void => {
  if (routedEmbedder(registry) !== name) return;
  const { weight: _weight, maxInputTokens: _most, ...others } = given.embedding ?? {};
  const isHarmless = given.embedding && Object.keys(others).length === 0;
  const changed = FIXED.filter((key) => given[key] !== undefined);
  if (changed.length === 0 || (isHarmless && changed.length === 1)) return;
  throw Boom.conflict(
    `${name} is the active embedding model. Route embeddings to another model before you change ${changed.join(', ')}.`,
    { code: 'embedder_in_use' },
  );
};

/**
 * Refuses a routing that sends the texts of all users to another model, unless that is confirmed, and
 * says what it costs.
 */
export const refuseUnconfirmed = async (
  { registry, amountOfTexts }: ModelsDeps,
  { topics, confirm }: RoutingChanges,
): Promise<void> => {
  const next = topics?.find(({ topic }) => topic === EMBEDDINGS)?.primary;
  if (next === undefined || next === routedEmbedder(registry) || confirm) return;
  const { baseUrl, provider, price } = registry.find(next) ?? {};
  const { users, chunks, chars } = await amountOfTexts();
  const tokens = Math.ceil(chars / TOKEN_CHARACTERS);
  const usd = price && Math.ceil(tokens * price.inputPerMTok) / 1e6;
  const cost = usd ? `about ${usd} USD, charged to the daily limits of the users` : 'price unknown';
  throw Boom.conflict(
    `All existing and future texts of all users will be sent to ${baseUrl ?? provider}: currently ${chunks} chunks of ${users} users, about ${tokens} tokens, ${cost}. Pass confirm: true to confirm.`,
    { code: 'confirm_needed' },
  );
};
