import Boom from '@hapi/boom';
import { JsonText } from '../kernel/contract/endpoint.js';
import { DEFAULT_LIMIT } from '../kernel/contract/page.js';
import { orNotFound, resource } from '../kernel/route.js';
import { type Hub, readOrWait } from '../realtime/module.js';
import { hooks } from './contract.js';
import type { HooksDeps } from './deps.js';
import type { TriggerConfig } from './hook.js';
import type { RefusalLog } from './inbound/refusallog.js';
import { refuseFiring } from './refusals.js';
import type { RepliesStore } from './replies/queries.js';
import { resendReply } from './replyservice.js';
import type { AwaitedTokens } from './senders/awaitedtokens.js';
import { createSignatureRecipe } from './senders/open.js';
import {
  addHook,
  deleteHook,
  findHook,
  rotateHookSecret,
  setEnabled,
  updateHook,
} from './service.js';
import { dryRun, fireTestDelivery, replayExecution, type TestingDeps } from './trials.js';
import {
  type ExecutionWithDelivery,
  executionsText,
  executionText,
  viewHook,
  viewReply,
} from './view.js';

interface HooksRoutesDeps {
  refusals: RefusalLog;
  awaited: AwaitedTokens;
  service: HooksDeps;
  testing: TestingDeps;
  hub: Hub;
  replies: RepliesStore;
  /** Starts a reply that was queued again. */
  resent(lane: string): void;
}

export const hooksResource = ({
  service: deps,
  testing,
  hub,
  awaited,
  refusals,
  replies,
  resent,
}: HooksRoutesDeps) => {
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
    'await-token': async ({ id }, by) => {
      const { trigger_config } = await findHook(deps, by.userId, id);
      refuseAwaiting(deps, by.userId, JSON.parse(trigger_config));
      return awaited.begin(id);
    },
    'awaited-token': async ({ id }, by) => {
      await findHook(deps, by.userId, id);
      return awaited.of(id);
    },
    'confirm-token': async ({ id, body: { token } }, by) => {
      const { trigger_config } = await findHook(deps, by.userId, id);
      if (!awaited.isKnown(id, token)) throw tokenNotFound();
      const triggerConfig = { ...JSON.parse(trigger_config), webhookSecret: token };
      const changed = await updateHook(deps, by, id, { triggerConfig });
      awaited.forget(id);
      return viewHook(changed);
    },
    refused: async ({ id }, by) => {
      await findHook(deps, by.userId, id);
      return refusals.of(id);
    },
    executions: async ({ id, query }, by) => {
      await findHook(deps, by.userId, id);
      const { rows, nextCursor } = await deps.hooks.executions(by.userId, id, query);
      return executionsText(rows, { nextCursor });
    },
    execution: async ({ id, executionId }, by) =>
      executionReply(await findExecution(by.userId, id, executionId)),
    replies: async ({ id, query }, by) => {
      await findHook(deps, by.userId, id);
      const { rows, nextCursor } = await replies.list(by.userId, id, query);
      return { replies: rows.map(viewReply), nextCursor };
    },
    'resend-reply': async ({ id, replyId }, by) => {
      await refuseFiring(deps, by, await findHook(deps, by.userId, id));
      return viewReply(await resendReply({ replies, resent }, { id, replyId }, by));
    },
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
      await refuseFiring(deps, by, hook);
      return executionReply(await fireTestDelivery(testing, hook, body));
    },
    replay: async ({ id, executionId, body }, by) => {
      const hook = await findHook(deps, by.userId, id);
      await refuseFiring(deps, by, hook);
      const recorded = await findExecution(by.userId, id, executionId);
      return executionReply(await replayExecution(testing, hook, recorded, body.force === true));
    },
    'rotate-secret': ({ id, body }, by) => rotateHookSecret(deps, { id, ...body }, by),
  });
};

/**
 * Throws if the sender does not generate the secret, or if the hook of a token would be ambiguous.
 */
const refuseAwaiting = (
  { directory }: HooksDeps,
  userId: string,
  { verify, webhookPath = '' }: TriggerConfig,
): void => {
  if (verify === undefined || createSignatureRecipe(verify).handshake !== 'notion') {
    throw Boom.conflict(
      'Only hooks with the sender notion accept a verification token. For this sender, set the secret of the hook',
    );
  }
  if (directory.onPath(webhookPath).every((hook) => hook.userId === userId)) return;
  throw Boom.conflict(
    'Another user also has a hook on this path, so a verification token could belong to either hook. Set another webhookPath, and enter the new URL at the sender',
    { code: 'path_shared' },
  );
};

const tokenNotFound = (): Boom.Boom =>
  Boom.conflict(
    'This hook has not received this verification token in the last ten minutes. To receive a new token, run: adjutant hooks await-token <hook>. While the command waits, start the verification at the sender again',
    {
      code: 'token_changed',
    },
  );

const executionReply = (row: ExecutionWithDelivery): JsonText => new JsonText(executionText(row));
