import type Boom from '@hapi/boom';
import { badRequest } from '../kernel/route.js';
import { assertRows } from '../store/store.js';
import type { GuardedStep, TasksDeps } from './deps.js';
import { addBlockers, assertTaskExists, dropBlockers, type OwnTask } from './writes.js';

interface TaskLinks {
  parentId?: string | null | undefined;
  blockedBy?: string[] | undefined;
}

export const parentSteps = (
  { store }: TasksDeps,
  { user_id }: OwnTask,
  { parentId }: TaskLinks,
): GuardedStep[] =>
  parentId
    ? [{ step: assertTaskExists(store.db, user_id, parentId), fault: () => unknown('parentId') }]
    : [];

export const linkSteps = (
  deps: TasksDeps,
  row: OwnTask,
  { parentId, blockedBy }: TaskLinks,
): GuardedStep[] => {
  const withoutLoop = (path: keyof TaskLinks): GuardedStep => ({
    step: assertRows(deps.tasks.selections(row.user_id).loop(row.id), 0),
    fault: () => loops(path),
  });
  const blockers = (ids: string[]): GuardedStep[] => [
    {
      step: addBlockers(row, ids),
      fault: async () => {
        const [first = ''] = await deps.tasks.unknown(row.user_id, ids);
        return unknown(`blockedBy.${ids.indexOf(first)}`);
      },
    },
    withoutLoop('blockedBy'),
  ];
  return [
    ...(blockedBy ? [{ step: dropBlockers(row) }] : []),
    ...(parentId ? [withoutLoop('parentId')] : []),
    ...(blockedBy && blockedBy.length > 0 ? blockers(blockedBy) : []),
  ];
};

const unknown = (path: string): Boom.Boom =>
  badRequest([{ path, message: 'refers to an unknown task' }]);

const loops = (path: string): Boom.Boom =>
  badRequest([{ path, message: 'creates a cycle: the task would wait for itself' }]);
