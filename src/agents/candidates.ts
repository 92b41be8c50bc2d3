import { isLocalHost } from '../kernel/egress.js';
import { DEFAULT_FALLBACK, type RegisteredModel, type Registry } from '../models/module.js';
import { digest } from '../providers/llm/digest.js';

/** The properties of an agent that decide which models may answer it. */
export interface CandidateAgent {
  /** The agent's model: the one named for it, or that of its topic when it began. */
  model: string;
  topic: string | null;
  /**
   * True if the agent reads untrusted content, which must not choose where that content is sent.
   */
  isUntrusted: boolean;
}

type ModelLookup = Pick<Registry, 'find' | 'routes' | 'default'>;

/**
 * Returns the models that may answer, in the order in which they are tried: the agent's own with
 * its fallbacks, those of its topic, the default with its fallbacks, and last the digest, which is
 * always available. If an untrusted agent's model is on the machine or in its network, the content
 * stays there: after that model's own fallbacks comes the digest, unless they name `default`.
 */
export const candidatesOf = (registry: ModelLookup, of: CandidateAgent): string[] => [
  ...new Set([...chosenFor(registry, of), digest.name]),
];

/**
 * True if the owner chose the digest for the agent: as its model, a fallback or the default, which it
 * is while no language model is configured.
 */
export const choosesDigest = (registry: ModelLookup, of: CandidateAgent): boolean =>
  chosenFor(registry, of).includes(digest.name);

/** Returns the models that the owner chose for the agent. */
const chosenFor = (registry: ModelLookup, of: CandidateAgent): string[] => {
  const { model, topic, isUntrusted } = of;
  const route = registry.routes().find((each) => each.topic === topic);
  const own = [model, ...fallbacksOf(registry, model)];
  const routed = route ? [route.primary, ...route.fallbacks] : [];
  const staying = route?.primary === model ? [...own, ...route.fallbacks] : own;
  const isStaying =
    isUntrusted && isLocal(registry.find(model)) && !staying.includes(DEFAULT_FALLBACK);
  const order = isStaying ? staying : [...own, ...routed, DEFAULT_FALLBACK];
  const chosen = registry.default();
  const named = order.flatMap((name) =>
    name === DEFAULT_FALLBACK ? [chosen, ...fallbacksOf(registry, chosen)] : [name],
  );
  return named.filter((name) => name !== DEFAULT_FALLBACK);
};

const fallbacksOf = (registry: ModelLookup, name: string): string[] =>
  registry.find(name)?.fallbacks ?? [];

const HERE: RegisteredModel['provider'][] = ['llama', 'ollama', 'digest'];

/**
 * True if a model runs on this machine or in its network. A command-line tool runs here but asks a
 * service elsewhere.
 */
const isLocal = (entry: RegisteredModel | undefined): boolean => {
  if (!entry || entry.provider === 'cli') return false;
  if (HERE.includes(entry.provider)) return true;
  return entry.baseUrl !== null && isLocalHost(new URL(entry.baseUrl).hostname);
};
