import Boom from '@hapi/boom';
import type { Models } from '../agents/module.js';
import type { Queue } from '../jobs/module.js';
import { type Clock, iso } from '../kernel/clock.js';
import { CustomReply } from '../kernel/contract/endpoint.js';
import { isExactNumber, stringifyExact } from '../kernel/exactjson.js';
import { mint } from '../kernel/ids.js';
import { badRequest } from '../kernel/route.js';
import type { Statement } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { DeliveryRow, ExecutionRow, HookRow } from '../store/tables/hooks.js';
import { agentToSpawn, buildHookNotice, previewToolCall, type ToolCallDeps } from './actions.js';
import type { DryRun, HookTest } from './contract.js';
import { parseHookRow } from './hook.js';
import { MAIL_EVENT } from './mailtriggers.js';
import { type HookRun, isOpen } from './run.js';
import type { ExecutionWithDelivery } from './view.js';

interface TrialDeps {
  store: Store;
  clock: Clock;
}

export interface TestingDeps extends TrialDeps, ToolCallDeps {
  queue: Queue;
  models: Models;
}

export const fireTestDelivery = async (
  deps: TestingDeps,
  hook: HookRow,
  trial: HookTest,
): Promise<ExecutionWithDelivery> => {
  const { execution, delivery, statements } = testDelivery(deps, hook, trial);
  await deps.store.transact(statements);
  deps.queue.added(execution.hook_id);
  return { ...execution, delivery };
};

export const testDelivery = (deps: TrialDeps, hook: HookRow, trial: HookTest) => {
  const { delivery, execution } = trialRows(deps, hook, trial);
  const fired = executionSteps(deps, execution);
  if (delivery === null) return { delivery, execution, statements: fired };
  const inserted = statement(deps.store.db.insertInto('deliveries').values(delivery), 1);
  return { delivery, execution, statements: [inserted, ...fired] };
};

/** The payload is the body of a delivery, or the fields of an e-mail. */
const trialRows = (
  deps: TrialDeps,
  hook: HookRow,
  trial: HookTest,
): { delivery: DeliveryRow | null; execution: ExecutionRow } => {
  if (hook.trigger !== 'email') {
    const delivery = buildTrialDelivery(deps, hook, trial);
    return { delivery, execution: buildTrialExecution(deps, hook, { delivery_id: delivery.id }) };
  }
  const { payload: email, event = MAIL_EVENT } = trial;
  if (typeof email !== 'object' || email === null || Array.isArray(email)) {
    throw badRequest([{ path: 'payload', message: 'must be an object with e-mail fields' }]);
  }
  const context = stringifyExact({ event, email }) ?? '';
  return { delivery: null, execution: buildTrialExecution(deps, hook, { context }) };
};

export const dryRun = async (
  deps: TestingDeps,
  hook: HookRow,
  trial: HookTest,
): Promise<CustomReply<DryRun>> => {
  const run: HookRun = {
    isSuspended: false,
    hook: parseHookRow(hook),
    ...trialRows(deps, hook, trial),
  };
  const judged = await deps.evaluate.conditions(run);
  return new CustomReply(200, {
    wouldRun: judged.verdict === 'hold',
    stoppedBy: judged.verdict === 'hold' ? null : judged.reason,
    action: hook.action,
    rendered: await render(run, deps),
  });
};

const render = async (run: HookRun, deps: TestingDeps): Promise<Record<string, unknown>> => {
  const { models, evaluate } = deps;
  switch (run.hook.action) {
    case 'spawn_agent': {
      const { prompt, model, topic, tools } = agentToSpawn(run, models);
      const reply = await previewReply(run, deps);
      return { prompt, model, topic: topic ?? null, tools: tools ?? [], ...reply };
    }
    case 'notify': {
      const { body, markdown, unfilled } = await evaluate.notice(run);
      const { title } = buildHookNotice(run, body);
      return {
        ...{ title, body },
        // The text that channels with formatting receive.
        ...(markdown !== null && { markdown }),
        ...(unfilled.length > 0 && { unfilled }),
      };
    }
    case 'webhook':
      return { ...(await evaluate.forward(run)) };
    case 'execute_tool':
      return previewToolCall(deps, run);
    case 'start_pipeline': {
      const { templateId } = run.hook.actionConfig;
      const reply = await previewReply(run, deps);
      return { templateId, params: await evaluate.arguments(run), ...reply };
    }
  }
};

/** The object that the result would be posted to, or the reason why it could not. */
const previewReply = async (run: HookRun, { evaluate }: TestingDeps): Promise<object> => {
  if (run.hook.actionConfig.reply === undefined) return {};
  const target = await evaluate.replyTarget(run);
  return { reply: 'fault' in target ? target : { object: target.object } };
};

/** Without `force`, an action that may already have run is not repeated. */
export const replayExecution = async (
  deps: TestingDeps,
  hook: HookRow,
  recorded: ExecutionWithDelivery,
  force: boolean,
): Promise<ExecutionWithDelivery> => {
  if (isOpen(recorded)) {
    throw Boom.conflict(`The execution is ${recorded.status}. Wait until it ends`);
  }
  const hasEffect = ['webhook', 'execute_tool', 'start_pipeline'].includes(hook.action);
  if (!force && hasEffect && recorded.effect !== 'none') {
    throw Boom.conflict('The action may already have run. Pass `force` to run it again', {
      code: 'effect_done',
    });
  }
  const execution = buildTrialExecution(deps, hook, {
    delivery_id: recorded.delivery_id,
    context: recorded.context,
    replay_of: recorded.id,
  });
  await deps.store.transact(executionSteps(deps, execution));
  deps.queue.added(execution.hook_id);
  return { ...execution, delivery: recorded.delivery };
};

const executionSteps = ({ store: { db } }: TrialDeps, execution: ExecutionRow): Statement[] => {
  const counted = db
    .updateTable('hooks')
    .set((of) => ({ executions: of('executions', '+', 1) }))
    .where('id', '=', execution.hook_id);
  return [statement(db.insertInto('executions').values(execution), 1), statement(counted, 1)];
};

const buildTrialDelivery = (
  { clock }: TrialDeps,
  hook: HookRow,
  { payload, event }: HookTest,
): DeliveryRow => {
  if (typeof payload !== 'object' || payload === null || isExactNumber(payload)) {
    throw badRequest([{ path: 'payload', message: 'must be a JSON object or array' }]);
  }
  const now = clock.now();
  return {
    id: mint('delivery', now),
    path: hook.webhook_path ?? '',
    method: 'POST',
    headers: '{}',
    body: stringifyExact(payload) ?? '',
    query: null,
    event: event ?? null,
    sender_id: null,
    received_at: iso(now),
  };
};

const buildTrialExecution = (
  { clock }: TrialDeps,
  hook: HookRow,
  from: Partial<ExecutionRow>,
): ExecutionRow => {
  const now = clock.now();
  return {
    id: mint('execution', now),
    hook_id: hook.id,
    user_id: hook.user_id,
    delivery_id: null,
    trigger: hook.trigger,
    action: hook.action,
    context: null,
    status: 'queued',
    effect: 'none',
    result: null,
    error: null,
    attempts: 0,
    agent_id: null,
    replay_of: null,
    hops: 0,
    created_at: iso(now),
    started_at: null,
    finished_at: null,
    run_at: iso(now),
    boot: null,
    ...from,
  };
};
