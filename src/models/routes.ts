import Boom from '@hapi/boom';
import { cutPage, DEFAULT_LIMIT } from '../kernel/contract/page.js';
import { resource } from '../kernel/route.js';
import { notApproved } from '../kernel/sharing.js';
import { type ModelView, models } from './contract.js';
import type { ModelsDeps } from './deps.js';
import { checkAllModels, checkModel, testUnregistered } from './probe.js';
import { changeRouting, chooseDefault, viewRouting } from './routing.js';
import {
  addModel,
  changeModel,
  deleteModel,
  findModel,
  findOwnModel,
  viewHealthFor,
  viewModelFor,
} from './service.js';

export const modelsResource = (deps: ModelsDeps) => {
  const { registry } = deps;

  return resource('models', models, {
    list: async ({ query }, by) => {
      const { limit = DEFAULT_LIMIT, cursor, provider, topic, enabled } = query;
      const all = registry.list(by.userId).map((entry) => viewModelFor(deps, entry, by));
      const chosen = all.filter(
        (model) =>
          (provider === undefined || model.provider === provider) &&
          (topic === undefined || model.topics.includes(topic)) &&
          (enabled === undefined || model.enabled === enabled),
      );
      const rest = cursor === undefined ? chosen : modelsAfter(chosen, cursor);
      const { rows, nextCursor } = cutPage(rest, limit);
      return { models: rows, nextCursor };
    },
    create: ({ body }, by) => addModel(deps, body, by),
    get: async ({ name }, by) => viewModelFor(deps, findModel(deps, name, by.userId), by),
    update: ({ name, body }, by) => changeModel(deps, name, body, by),
    delete: ({ name }, by) => deleteModel(deps, name, by),
    default: ({ name }, by) => chooseDefault(deps, name, by),
    check: ({ name }, by) => checkModel(deps, findOwnModel(deps, name, by), by.signal),
    test: ({ body }, by) => testUnregistered(deps, body, by),
    routing: async () => viewRouting(deps),
    'set-routing': ({ body }, by) => changeRouting(deps, body, by),
    health: async ({ query }, by) => {
      const mayTest = by.member ? by.member.role !== 'member' : by.role === 'admin';
      if (query.check && !mayTest)
        throw Boom.forbidden(
          'Only an admin of the installation may test models. Omit check, or ask an admin',
        );
      if (query.check && by.member?.isApproved === false) throw notApproved();
      if (query.check) await checkAllModels(deps, by);
      const providers = registry.list(by.userId).map((entry) => ({
        provider: entry.provider,
        model: entry.name,
        ...viewHealthFor(deps, entry, by),
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

/** The cursor may be a model of another owner in the same list. */
const modelsAfter = (all: ModelView[], cursor: string): ModelView[] => {
  if (cursor.startsWith('model_'))
    return all.filter(({ id, source }) => source !== 'registry' || id < cursor);
  const at = all.findIndex(({ id }) => id === cursor);
  return at < 0 ? [] : all.slice(at + 1);
};
