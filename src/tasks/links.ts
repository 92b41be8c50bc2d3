import type Boom from '@hapi/boom';
import { badRequest } from '../kernel/route.js';
import { assertRows } from '../store/store.js';
import type { CheckedStep, TasksDeps } from './deps.js';
import { addBlockers, dropBlockers, type OwnTask, onlyKnown } from './writes.js';

interface GivenLinks {
  parentId?: string | null | undefined;
  blockedBy?: string[] | undefined;
}

export const parentSteps = (
  { store }: TasksDeps,
  { user_id }: OwnTask,
  { parentId }: GivenLinks,
): CheckedStep[] =>
  parentId
    ? [{ step: onlyKnown(store.db, user_id, parentId), fault: () => unknown('parentId') }]
    : [];

export const linkSteps = (
  deps: TasksDeps,
  row: OwnTask,
  { parentId, blockedBy }: GivenLinks,
): CheckedStep[] => {
  const withoutLoop = (path: keyof GivenLinks): CheckedStep => ({
    step: assertRows(deps.tasks.selections(row.user_id).loop(row.id), 0),
    fault: () => loops(path),
  });
  const blockers = (given: string[]): CheckedStep[] => [
    {
      step: addBlockers(row, given),
      fault: async () => {
        const [first = ''] = await deps.tasks.unknown(row.user_id, given);
        return unknown(`blockedBy.${given.indexOf(first)}`);
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
