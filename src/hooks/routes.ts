import { JsonText } from '../kernel/contract/endpoint.js';
import { DEFAULT_LIMIT } from '../kernel/contract/page.js';
import { orNotFound, resource } from '../kernel/route.js';
import { type Hub, readOrWait } from '../realtime/module.js';
import { hooks } from './contract.js';
import { refuseFiring } from './refusals.js';
import {
  addHook,
  deleteHook,
  findHook,
  type HooksDeps,
  rotateHookSecret,
  setEnabled,
  updateHook,
} from './service.js';
import { dryRun, fireTestDelivery, replayExecution, type TestingDeps } from './trials.js';
import { type ExecutionWithDelivery, executionsText, executionText, viewHook } from './view.js';

interface HooksRoutesDeps {
  service: HooksDeps;
  testing: TestingDeps;
  hub: Hub;
}

export const hooksResource = ({ service: deps, testing, hub }: HooksRoutesDeps) => {
  const findExecution = async (userId: string, hookId: string, id: string) => {
    return orNotFound(await deps.hooks.execution(userId, hookId, id), 'No execution with that id');
  };

  return resource('hooks', hooks, {
    list: async ({ query }, by) => {
      const { rows, nextCursor } = await deps.hooks.list(by.userId, query);
      return { hooks: rows.map(viewHook), nextCursor };
    },
    create: async ({ body }, by) => viewHook(await addHook(deps, by, body)),
    get: async ({ id }, by) => viewHook(await findHook(deps, by.userId, id)),
    update: async ({ id, body }, by) => viewHook(await updateHook(deps, by, id, body)),
    delete: ({ id }, by) => deleteHook(deps, by.userId, id),
    enable: async ({ id }, by) => viewHook(await setEnabled(deps, { userId: by.userId, id }, true)),
    disable: async ({ id }, by) =>
      viewHook(await setEnabled(deps, { userId: by.userId, id }, false)),
    executions: async ({ id, query }, by) => {
      await findHook(deps, by.userId, id);
      const { rows, nextCursor } = await deps.hooks.executions(by.userId, id, query);
      return executionsText(rows, { nextCursor });
    },
    execution: async ({ id, executionId }, by) =>
      shown(await findExecution(by.userId, id, executionId)),
    listen: async ({ query }, by) => {
      const { after, limit = DEFAULT_LIMIT, wait = 0 } = query;
      const newest = () => deps.hooks.newestExecution(by.userId);
      if (after === undefined) return { executions: [], lastId: await newest() };
      const rows = await readOrWait(
        hub,
        { userId: by.userId, channels: ['hook.execution'], ms: wait * 1000, signal: by.signal },
        () => deps.hooks.after(by.userId, after, limit),
      );
      return executionsText(rows, { lastId: rows.at(-1)?.id ?? after });
    },
    test: async ({ id, body }, by) => {
      const hook = await findHook(deps, by.userId, id);
      if (body.dryRun) return dryRun(testing, hook, body);
      refuseFiring(deps, by, hook);
      return shown(await fireTestDelivery(testing, hook, body));
    },
    replay: async ({ id, executionId, body }, by) => {
      const hook = await findHook(deps, by.userId, id);
      refuseFiring(deps, by, hook);
      const recorded = await findExecution(by.userId, id, executionId);
      return shown(await replayExecution(testing, hook, recorded, body.force === true));
    },
    'rotate-secret': ({ id, body }, by) => rotateHookSecret(deps, { id, ...body }, by),
  });
};

const shown = (row: ExecutionWithDelivery): JsonText => new JsonText(executionText(row));
