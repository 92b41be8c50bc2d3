import { isLocalHost } from '../kernel/egress.js';
import { DEFAULT_FALLBACK, type RegisteredModel, type Registry } from '../models/module.js';
import { digest } from '../providers/llm/digest.js';

export interface CandidateAgent {
  /** Owner of the agent. An organization also has models of its own. */
  userId: string;
  /** Model named for the agent, or routed for its topic when it started. */
  model: string;
  topic: string | null;
  /** Untrusted content must not choose where it is sent. */
  isUntrusted: boolean;
}

type ModelLookup = Pick<Registry, 'find' | 'routes' | 'default'>;

/**
 * Returns the models in the order in which they are tried. The content of an untrusted agent with a
 * local model stays local: only its own fallbacks and the digest follow, unless the fallbacks
 * contain `default`.
 */
export const candidateModels = (registry: ModelLookup, of: CandidateAgent): string[] => [
  ...new Set([...chosenFor(registry, of), digest.name]),
];

/** Whether the digest was configured for the agent: as its model, a fallback, or the default. */
export const isDigestConfigured = (registry: ModelLookup, of: CandidateAgent): boolean =>
  chosenFor(registry, of).includes(digest.name);

const chosenFor = (registry: ModelLookup, of: CandidateAgent): string[] => {
  const { userId, model, topic, isUntrusted } = of;
  const route = registry.routes().find((each) => each.topic === topic);
  const own = [model, ...getFallbacks(registry, model, userId)];
  const routed = route ? [route.primary, ...route.fallbacks] : [];
  const staying = route?.primary === model ? [...own, ...route.fallbacks] : own;
  const isStaying =
    isUntrusted && isLocal(registry.find(model, userId)) && !staying.includes(DEFAULT_FALLBACK);
  const order = isStaying ? staying : [...own, ...routed, DEFAULT_FALLBACK];
  const chosen = registry.default();
  const named = order.flatMap((name) =>
    name === DEFAULT_FALLBACK ? [chosen, ...getFallbacks(registry, chosen)] : [name],
  );
  return named.filter((name) => name !== DEFAULT_FALLBACK);
};

const getFallbacks = (registry: ModelLookup, name: string, userId?: string): string[] =>
  registry.find(name, userId)?.fallbacks ?? [];

const HERE: RegisteredModel['provider'][] = ['llama', 'ollama', 'digest'];

/** A command-line tool runs locally, but calls a remote service. */
const isLocal = (entry: RegisteredModel | undefined): boolean => {
  if (!entry || entry.provider === 'cli') return false;
  if (HERE.includes(entry.provider)) return true;
  return entry.baseUrl !== null && isLocalHost(new URL(entry.baseUrl).hostname);
};
