import type { Caller } from '../kernel/contract/endpoint.js';
import { refuseFaults } from '../kernel/route.js';
import type { ModelTrial } from './contract.js';
import { type ProbeResult, probe } from './probe.js';
import { filledIn, isProvider, providerFaults } from './rules.js';
import { checkModelCredential, findModel, type ModelsDeps } from './service.js';

/** Ours: number of models that are checked at the same time. */
const AT_ONCE = 8;

/** Sends one tiny prompt to a model that is not registered. */
export const tryOut = async (
  deps: ModelsDeps,
  { provider, modelId, baseUrl = null, credentialId, apiKey }: ModelTrial,
  by: Caller,
): Promise<ProbeResult> => {
  refuseFaults(providerFaults({ provider, modelId, baseUrl, credentialId, apiKey }));
  if (!isProvider(provider)) throw new Error(`No adapter speaks to ${provider}`);
  await checkModelCredential(deps, credentialId, by);
  const key = credentialId === undefined ? apiKey : await deps.vault.newest(credentialId);
  if (key === null) refuseFaults([{ path: 'credentialId', message: 'has expired' }]);
  const model = deps.openModel({
    ...filledIn({ provider, modelId }),
    ...{ name: `${provider}/${modelId}`, provider, modelId, baseUrl },
    ...(typeof key === 'string' && { apiKey: key }),
  });
  return probe(model, by.signal);
};

/** Sends one tiny prompt to a registered model and updates its health. */
export const checkModel = async (
  deps: ModelsDeps,
  name: string,
  signal: AbortSignal,
): Promise<ProbeResult> => {
  const entry = findModel(deps, name);
  const because = entry.whyKeyless();
  if (because !== null) return { ok: false, latencyMs: 0, error: `${name}: ${because}` };
  return probe(entry.model, signal, deps.modelHealth);
};

export const checkAllModels = async (deps: ModelsDeps, signal: AbortSignal): Promise<void> => {
  const names = deps.registry.list().flatMap(({ name, isEnabled }) => (isEnabled ? [name] : []));
  const next = async (): Promise<void> => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      await checkModel(deps, name, signal);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
};
