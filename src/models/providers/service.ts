import Boom from '@hapi/boom';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { unsealOrNull } from '../../kernel/envelope.js';
import type { Http } from '../../kernel/http.js';
import { badRequest } from '../../kernel/route.js';
import { adapters, type Provider } from '../../providers/llm/adapters.js';
import { addressFault } from '../../providers/llm/address.js';
import {
  type AvailableModel,
  litellmModels,
  ModelListUnavailable,
  type ModelServer,
  ollamaModels,
} from '../../providers/llm/available.js';
import type { Vault } from '../../vault/module.js';
import type { Available } from '../contract.js';
import type { ModelsStore, ServerRow } from '../queries.js';

export interface ProvidersDeps {
  models: ModelsStore;
  http: Http;
  unsealKey(id: string, sealed: string): string;
  vault: Pick<Vault, 'newest'>;
}

const lists = { ollama: ollamaModels, litellm: litellmModels };

/** The named server, that of the newest model of the provider, or its usual address. */
export const listAvailable = async (
  deps: ProvidersDeps,
  provider: keyof typeof lists,
  { baseUrl, by }: { baseUrl: string | undefined; by: Pick<Caller, 'role'> },
): Promise<Available> => {
  if (baseUrl !== undefined) checkBaseUrl(baseUrl, by);
  const server = await resolveModelServer(deps, provider, baseUrl);
  const reply = (error: string | null, models: AvailableModel[]): Available => ({
    available: error === null,
    baseUrl: server.baseUrl,
    error,
    models,
  });
  try {
    return reply(null, await lists[provider](deps.http, server));
  } catch (error) {
    if (!(error instanceof ModelListUnavailable)) throw error;
    return reply(error.message, []);
  }
};

/** A private address that every user may set would give access to the network. */
const checkBaseUrl = (baseUrl: string, { role }: Pick<Caller, 'role'>): void => {
  if (role !== 'admin')
    throw Boom.forbidden(
      'Only an admin of the installation may set baseUrl. Omit baseUrl, or ask an admin',
    );
  const message = addressFault(baseUrl);
  if (message !== null) throw badRequest([{ path: 'baseUrl', message }]);
};

/** A stored key is sent only to the server that it is stored for. */
const resolveModelServer = async (
  deps: ProvidersDeps,
  provider: Provider & keyof typeof lists,
  named: string | undefined,
): Promise<ModelServer> => {
  const row = await deps.models.newestOf(provider);
  const kept = row?.base_url ?? adapters[provider].baseUrl ?? '';
  const baseUrl = named ?? kept;
  const isKept = new URL(baseUrl).origin === new URL(kept).origin;
  const apiKey = isKept && row ? await loadApiKey(deps, row) : null;
  return { baseUrl, ...(apiKey !== null && { apiKey }) };
};

const loadApiKey = async (
  { vault, unsealKey }: ProvidersDeps,
  { id, name, key_sealed, credential_id }: ServerRow,
): Promise<string | null> => {
  if (credential_id !== null) return vault.newest(credential_id);
  if (key_sealed === null) return null;
  const key = unsealOrNull(() => unsealKey(id, key_sealed));
  if (key !== null) return key;
  throw Boom.conflict(`The API key of the model ${name} is damaged. Set the API key again.`, {
    code: 'key_damaged',
  });
};
