import { getEgressRefusal } from '../kernel/egress.js';
import { faultOfHeaderValue } from '../kernel/headervalue.js';
import type { Http } from '../kernel/http.js';
import type { FieldFault } from '../kernel/problem.js';
import { cliTools, findCliTool } from '../providers/clitools/tools.js';
import { adapters, type Provider } from '../providers/llm/adapters.js';
import { addressFault } from '../providers/llm/address.js';
import { knownModel } from '../providers/llm/catalogue.js';
import { canEmbed } from '../providers/llm/embeddings.js';
import { isSlug } from '../providers/llm/llama/files.js';
import type { Price } from '../providers/llm/model.js';
import { canTranscribe } from '../providers/llm/transcription.js';
import type { NewModel, RoutingChanges } from './contract.js';
import type { ModelAccess, Supports } from './open.js';
import { ALL, DEFAULT_FALLBACK, EMBEDDINGS, TRANSCRIPTION } from './registry.js';

type CheckedModel = TriedModel & Pick<NewModel, 'name' | 'topics' | 'fallbacks'>;

type TriedModel = Pick<NewModel, 'provider'> & Partial<NewModel>;

/** Path segments below `/api/models`. */
const ROUTES = ['routing', 'health', 'test', 'usage', 'cli', 'providers'];
const NAME = /^[A-Za-z0-9][\w.:@+/-]*$/;

export const isProvider = (provider: string): provider is ModelAccess['provider'] =>
  provider === 'cli' || provider === 'llama' || isServer(provider);

const isServer = (provider: string): provider is Provider => Object.hasOwn(adapters, provider);

/** Checks that the schema cannot express. */
export const modelFaults = (model: CheckedModel, names: string[]): FieldFault[] => [
  ...providerFaults(model),
  ...(model.fallbacks ?? []).flatMap((name, at) =>
    name === model.name
      ? [fault(`fallbacks.${at}`, 'must not name the model itself')]
      : nameFaults(`fallbacks.${at}`, name, [...names, DEFAULT_FALLBACK]),
  ),
  ...duplicateFaults('fallbacks', model.fallbacks),
  ...duplicateFaults('topics', model.topics),
  ...embeddingFaults(model),
  ...speechFaults(model),
];

export const modelNameFaults = (name: string): FieldFault[] => {
  const [first = ''] = name.split('/');
  if (ROUTES.includes(first.toLowerCase()))
    return [fault('name', 'must not begin with a reserved word, such as routing or health')];
  if (name === DEFAULT_FALLBACK)
    return [fault('name', 'is reserved for the default model in fallbacks')];
  if (NAME.test(name)) return [];
  return [
    fault(
      'name',
      'must begin with a letter or digit and contain only letters, digits and . _ : @ + / -',
    ),
  ];
};

/** An unregistered model has neither name nor routes. */
export const providerFaults = (model: TriedModel): FieldFault[] => {
  const { provider, baseUrl, credentialId, apiKey } = model;
  const faults: FieldFault[] = [];
  if (provider === 'cli') return toolFaults(model);
  if (provider === 'llama') return llamaFaults(model);
  if (provider === 'digest')
    faults.push(fault('provider', 'must not be digest, which is built in'));
  if (credentialId && apiKey) {
    faults.push(fault('credentialId', 'cannot be combined with apiKey'));
  }
  const unsendable = apiKey ? faultOfHeaderValue(apiKey) : null;
  if (unsendable !== null) faults.push(fault('apiKey', unsendable));
  if (baseUrl) {
    const message = addressFault(baseUrl);
    return message === null ? faults : [...faults, fault('baseUrl', message)];
  }
  const isNeeded = isServer(provider) && adapters[provider].baseUrl === null;
  return isNeeded ? [...faults, fault('baseUrl', 'is required')] : faults;
};

/** Routes, programs and local models belong to the installation. */
export const orgModelFaults = (
  { provider, baseUrl, topics = [], embedding, supports }: TriedModel,
  { check }: Pick<Http, 'check'>,
): FieldFault[] => {
  const faults = unsupportedFaults(
    {
      ...(!isServer(provider) && { provider }),
      ...(topics.length > 0 && { topics }),
      ...(embedding && { embedding }),
    },
    UNSUPPORTED_BY_ORG,
  );
  if (supports?.transcription) faults.push(fault('supports.transcription', UNSUPPORTED_BY_ORG));
  const url = baseUrl ?? (isServer(provider) ? adapters[provider].baseUrl : null);
  const refusal = url === null ? null : getEgressRefusal(() => check(url));
  return refusal === null ? faults : [...faults, fault('baseUrl', `cannot be used: ${refusal}`)];
};

const UNSUPPORTED_BY_ORG = 'is not supported for models of an organization';

const embeddingFaults = ({ provider, embedding }: CheckedModel): FieldFault[] => {
  if (!embedding) return [];
  if (!canEmbed(provider)) {
    return [fault('embedding', `is not supported for models of ${provider}`)];
  }
  return embedding.dimensions === undefined ? [fault('embedding.dimensions', 'is required')] : [];
};

const speechFaults = ({ provider, supports }: CheckedModel): FieldFault[] =>
  supports?.transcription && !canTranscribe(provider)
    ? [fault('supports.transcription', `is not supported for models of ${provider}`)]
    : [];

interface RoutableNames {
  names: string[];
  enabled: string[];
  embedding: string[];
  speech: string[];
}

export const routingFaults = (routing: RoutingChanges, known: RoutableNames): FieldFault[] => {
  const { default: chosen, topics = [] } = routing;
  return [
    ...(chosen === undefined ? [] : nameFaults('default', chosen, known.enabled)),
    ...topics.flatMap(({ topic, primary, fallbacks = [] }, at) => [
      ...(topic === EMBEDDINGS ? vectorFaults(at, { primary, fallbacks }, known) : []),
      ...(topic === TRANSCRIPTION ? transcriptionFaults(at, [primary, ...fallbacks], known) : []),
      ...nameFaults(`topics.${at}.primary`, primary, known.names),
      ...fallbacks.flatMap((name, n) =>
        nameFaults(`topics.${at}.fallbacks.${n}`, name, [...known.names, DEFAULT_FALLBACK]),
      ),
      ...duplicateFaults(`topics.${at}.fallbacks`, [primary, ...fallbacks]),
    ]),
    ...duplicateFaults(
      'topics',
      topics.map(({ topic }) => topic),
    ),
  ];
};

const transcriptionFaults = (
  at: number,
  names: string[],
  { speech }: RoutableNames,
): FieldFault[] => {
  const deaf = names.filter((name) => !speech.includes(name));
  const message = `must name only models with supports.transcription, unlike ${deaf.join(', ')}`;
  return deaf.length === 0 ? [] : [fault(`topics.${at}.primary`, message)];
};

/** One model creates all vectors. */
const vectorFaults = (
  at: number,
  { primary, fallbacks }: { primary: string; fallbacks: string[] },
  { names, embedding }: RoutableNames,
): FieldFault[] => {
  const makesNone = names.includes(primary) && !embedding.includes(primary);
  const none = 'must be an embedding model. Set the field embedding of the model first';
  const alone = 'must be empty: vectors of several models cannot be compared';
  return [
    ...(makesNone ? [fault(`topics.${at}.primary`, none)] : []),
    ...(fallbacks.length > 0 ? [fault(`topics.${at}.fallbacks`, alone)] : []),
  ];
};

/** Uses the published facts of the provider, and otherwise our defaults. */
export const withModelDefaults = (
  model: Pick<NewModel, 'provider' | 'modelId' | 'contextWindow' | 'maxOutputTokens'> & {
    supports?: Partial<Supports>;
    price?: Price | null;
  },
) => {
  const known = knownModel(model.provider, model.modelId);
  return {
    contextWindow: model.contextWindow ?? known?.contextWindow ?? defaultWindow(model.provider),
    maxOutputTokens:
      model.maxOutputTokens === undefined
        ? (known?.maxOutputTokens ?? null)
        : model.maxOutputTokens,
    supports: {
      ...(model.provider === 'cli' ? CLI_SUPPORTS : ALL),
      ...(known && { vision: known.vision }),
      ...model.supports,
    },
    price: model.price === undefined ? (known?.price ?? null) : model.price,
  };
};

/** Ollama and llama.cpp allocate memory for the whole window. */
const defaultWindow = (provider: string): number =>
  provider === 'ollama' || provider === 'llama' ? 8192 : 128_000;

const fault = (path: string, message: string): FieldFault => ({ path, message });

const nameFaults = (path: string, name: string, names: string[]): FieldFault[] =>
  names.includes(name) ? [] : [fault(path, `must be one of the models: ${names.join(', ')}`)];

const duplicateFaults = (path: string, words: string[] = []): FieldFault[] =>
  new Set(words).size === words.length ? [] : [fault(path, 'must not contain duplicates')];

/** A command-line tool only generates text. */
const CLI_SUPPORTS: Supports = {
  tools: false,
  vision: false,
  streaming: true,
  embeddings: false,
  transcription: false,
};

const UNSUPPORTED_BY_TOOL =
  'is not supported for a command-line tool. Log in to the tool with adjutant models cli login';

const toolFaults = ({
  modelId,
  baseUrl,
  apiKey,
  credentialId,
  supports = {},
}: Partial<NewModel>): FieldFault[] => {
  const faults: FieldFault[] = [];
  if (modelId !== undefined && !findCliTool(modelId)) {
    const names = Object.keys(cliTools).join(', ');
    const message = `must be one of ${names}, optionally followed by :model`;
    faults.push(fault('modelId', message));
  }
  faults.push(...unsupportedFaults({ baseUrl, apiKey, credentialId }, UNSUPPORTED_BY_TOOL));
  for (const able of ['tools', 'vision', 'embeddings'] as const) {
    if (!supports[able]) continue;
    faults.push(fault(`supports.${able}`, 'is not supported for a command-line tool'));
  }
  return faults;
};

const unsupportedFaults = (fields: Partial<NewModel>, message: string): FieldFault[] =>
  Object.entries(fields).flatMap(([path, value]) => (value ? [fault(path, message)] : []));

const UNSUPPORTED_BY_LLAMA = 'is not supported for models of llama';

const llamaFaults = ({
  modelId,
  baseUrl,
  apiKey,
  credentialId,
  supports = {},
}: Partial<NewModel>): FieldFault[] => [
  ...(modelId === undefined || isSlug(modelId)
    ? []
    : [fault('modelId', 'must be the name of an installed model, such as qwen3-4b-q4_k_m')]),
  ...unsupportedFaults({ baseUrl, apiKey, credentialId }, UNSUPPORTED_BY_LLAMA),
  ...(supports.vision ? [fault('supports.vision', 'is not supported for models of llama')] : []),
];
