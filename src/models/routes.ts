import Boom from '@hapi/boom';
import { DEFAULT_LIMIT } from '../kernel/contract/page.js';
import { resource } from '../kernel/route.js';
import { models } from './contract.js';
import type { ModelsDeps } from './deps.js';
import { checkAllModels, checkModel, testUnregistered } from './probe.js';
import { changeRouting, chooseDefault, viewRouting } from './routing.js';
import {
  addModel,
  changeModel,
  deleteModel,
  findModel,
  viewHealth,
  viewModelFor,
} from './service.js';

export const modelsResource = (deps: ModelsDeps) => {
  const { registry, modelHealth } = deps;

  return resource('models', models, {
    list: async ({ query }, by) => {
      const { limit = DEFAULT_LIMIT, cursor, provider, topic, enabled } = query;
      const all = registry.list().map((entry) => viewModelFor(deps, entry, by));
      const chosen = all.filter(
        (model) =>
          (provider === undefined || model.provider === provider) &&
          (topic === undefined || model.topics.includes(topic)) &&
          (enabled === undefined || model.enabled === enabled),
      );
      const from = chosen.findIndex(({ name }) => name === cursor) + 1;
      const page = cursor !== undefined && from === 0 ? [] : chosen.slice(from, from + limit);
      const isLast = from + limit >= chosen.length;
      return { models: page, nextCursor: isLast ? null : (page.at(-1)?.name ?? null) };
    },
    create: ({ body }, by) => addModel(deps, body, by),
    get: async ({ name }, by) => viewModelFor(deps, findModel(deps, name), by),
    update: ({ name, body }, by) => changeModel(deps, name, body, by),
    delete: ({ name }, by) => deleteModel(deps, name, by),
    default: ({ name }, by) => chooseDefault(deps, name, by),
    check: ({ name }, by) => checkModel(deps, name, by.signal),
    test: ({ body }, by) => testUnregistered(deps, body, by),
    routing: async () => viewRouting(deps),
    'set-routing': ({ body }, by) => changeRouting(deps, body, by),
    health: async ({ query }, by) => {
      if (query.check && by.role !== 'admin')
        throw Boom.forbidden(
          'Only an admin of the installation may test models. Omit check, or ask an admin',
        );
      if (query.check) await checkAllModels(deps, by.signal);
      const providers = registry.list().map((entry) => ({
        provider: entry.provider,
        model: entry.name,
        ...viewHealth(modelHealth, entry),
      }));
      return { providers };
    },
    usage: async ({ query }, by) => {
      const limit = query.limit ?? DEFAULT_LIMIT;
      const filters = { ...query, by: query.by ?? 'model', limit };
      const { rows, total } = await deps.models.usage(by.userId, filters);
      const usage = rows.slice(0, limit);
      return {
        usage,
        nextCursor: rows.length > limit ? (usage.at(-1)?.key ?? null) : null,
        total: total ?? { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 },
      };
    },
  });
};
