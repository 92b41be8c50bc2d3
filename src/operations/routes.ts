import { badRequest, resource } from '../kernel/route.js';
import { operations } from './contract.js';
import { cancelOperation, type OperationsDeps, waitForOperation } from './service.js';

export const operationsResource = (deps: OperationsDeps) =>
  resource('operations', operations, {
    list: async ({ query }, { userId }) => {
      if (query.kind !== undefined && !deps.kinds.has(query.kind)) {
        const message = `must be one of ${[...deps.kinds.keys()].sort().join(', ')}`;
        throw badRequest([{ path: 'kind', message }]);
      }
      const { rows, nextCursor } = await deps.operations.list(userId, query);
      return { operations: rows.map(deps.progress.view), nextCursor };
    },
    get: ({ id, query }, by) =>
      waitForOperation(deps, by, { id, waitMs: (query.wait ?? 0) * 1000 }),
    cancel: ({ id }, { userId }) => cancelOperation(deps, userId, id),
  });
