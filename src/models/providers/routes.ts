import Boom from '@hapi/boom';
import { resource } from '../../kernel/route.js';
import { knownModels } from '../../providers/llm/catalogue.js';
import { providers } from '../contract.js';
import { Provider } from '../facts.js';
import { ALL } from '../registry.js';
import { listAvailable, type ProvidersDeps } from './service.js';

export const providersResource = (deps: ProvidersDeps) =>
  resource('providers', providers, {
    known: async ({ provider }) => {
      const { value, error } = Provider.validate(provider);
      if (error) {
        const names = Provider.describe().allow?.join(', ');
        throw Boom.notFound(`Unknown model provider. Choose one of: ${names}`);
      }
      const models = knownModels(value).map(({ vision, ...known }) => ({
        ...known,
        supports: { ...ALL, vision },
      }));
      return { provider: value, models };
    },
    ollama: ({ query: { baseUrl } }, by) => listAvailable(deps, 'ollama', { baseUrl, by }),
    litellm: ({ query: { baseUrl } }, by) => listAvailable(deps, 'litellm', { baseUrl, by }),
  });
