import type { ModelView } from './contract.js';
import type { ModelHealth, ModelHealths } from './health.js';
import type { RegisteredModel, Registry } from './registry.js';

export const viewModel = (
  registry: Registry,
  health: ModelHealths,
  entry: RegisteredModel,
): ModelView => ({
  name: entry.name,
  provider: entry.provider,
  modelId: entry.modelId,
  baseUrl: entry.baseUrl,
  credentialId: entry.credentialId,
  apiKeySet: entry.hasKey,
  contextWindow: entry.contextWindow,
  maxOutputTokens: entry.maxOutputTokens,
  supports: entry.supports,
  price: entry.price,
  topics: registry
    .routes()
    .filter(({ primary }) => primary === entry.name)
    .map(({ topic }) => topic),
  fallbacks: entry.fallbacks,
  enabled: entry.isEnabled,
  isDefault: registry.default() === entry.name,
  source: entry.source,
  health: healthOf(health, entry),
});

/** Returns the health of a model; a built-in model is always up. */
export const healthOf = (health: ModelHealths, { name, source }: RegisteredModel): ModelHealth => {
  const seen = health.of(name);
  return source === 'builtin' ? { ...seen, status: 'up' } : seen;
};
