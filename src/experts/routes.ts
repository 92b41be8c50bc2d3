import { DEFAULT_LIMIT } from '../kernel/contract/page.js';
import { resource } from '../kernel/route.js';
import { experts } from './contract.js';
import {
  createExpert,
  deleteExpert,
  type ExpertsDeps,
  findExpert,
  listExperts,
  updateExpert,
} from './service.js';

export const expertsResource = (deps: ExpertsDeps) =>
  resource('experts', experts, {
    list: ({ query }, by) =>
      listExperts(deps, by.userId, { ...query, limit: query.limit ?? DEFAULT_LIMIT }),
    get: ({ id }, by) => findExpert(deps, by.userId, id),
    create: ({ body }, by) => createExpert(deps, by.userId, body),
    update: ({ id, body }, by) => updateExpert(deps, by.userId, { id, changes: body }),
    delete: ({ id }, by) => deleteExpert(deps, by.userId, id),
  });
