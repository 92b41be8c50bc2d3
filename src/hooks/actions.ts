import {
  JOB as AGENT_JOB,
  type Models,
  type SpawnRequest,
  spawnRecord,
  webhookPrompt,
} from '../agents/module.js';
import { becomeJob, type Job, releaseJob } from '../jobs/module.js';
import { iso } from '../kernel/clock.js';
import type { Http } from '../kernel/http.js';
import type { Notice } from '../outbound/module.js';
import { type PermissionsOf, whyDenied } from '../permissions/module.js';
import { statement } from '../store/store.js';
import { type Toolbox, ToolFailed, ToolRefused } from '../tools/module.js';
import { credentialsIn, type Vault } from '../vault/module.js';
import type { Evaluator } from './evaluate.js';
import { authorized, sendForward } from './forward.js';
import { beginRun, beginStatements, endRun, type OutcomeDeps, publishRun } from './outcome.js';
import { type HookRun, hopsOf, payloadOf, promptEventOf } from './run.js';

export interface ActionDeps extends OutcomeDeps {
  http: Http;
  evaluate: Evaluator;
  access: HookAccess;
  delayed(lane: string, runAt: string): void;
}

/** The models, tools and credentials that hooks may use. */
export interface HookAccess {
  models: Models;
  toolbox: Toolbox;
  permissionsOf: PermissionsOf;
  vault: Vault;
  /** Opens the working folder of a hook. */
  folderOf(userId: string, name: string): Promise<string>;
}

/**
 * Performs the action of an execution and writes its outcome. Resolves to the job that continues in
 * its place in the lane, or null.
 */
export type PerformAction = (
  deps: ActionDeps,
  run: HookRun,
  job: Job,
  signal: AbortSignal,
) => Promise<Job | null>;

/** Commits the agent, its first message and the job that runs it together with the execution. */
const spawnAgent: PerformAction = async (deps, run, job) => {
  const { store } = deps;
  const { id, record } = spawnRecord(deps, agentToSpawn(run, deps.access.models));
  await record
    .add(
      ...beginStatements(deps, run, job, { agent_id: id, effect: 'begun' }),
      becomeJob(store, job.id, { kind: AGENT_JOB, ref: id }),
    )
    .commit();
  publishRun(deps, run, { status: 'running', agentId: id });
  return { ...job, kind: AGENT_JOB, ref: id, attempts: 1 };
};

export const agentToSpawn = (run: HookRun, models: Models): SpawnRequest => {
  const { hook, execution } = run;
  const { agentPrompt, agentTopic, agentModel, agentTools, ...config } = hook.actionConfig;
  return {
    userId: hook.userId,
    prompt: webhookPrompt(agentPrompt ?? '', payloadOf(run), promptEventOf(run)),
    model: agentModel ?? models.routed(agentTopic),
    name: `${hook.name}-${execution.id.slice(-6)}`,
    ...(agentTopic !== undefined && { topic: agentTopic }),
    ...(agentTools && { tools: agentTools }),
    channel: 'hook',
    untrusted: run.delivery !== null || hook.trigger !== 'schedule',
    hookId: hook.id,
    executionId: execution.id,
    hops: hopsOf(run),
    notifyOwner: config.notifyOwner === true,
    orchestrated: config.orchestrated === true,
    limits: hook.limits,
    lane: hook.id,
  };
};

/**
 * Sends the hook's notification. Ours: with `notifyOwner` false it stays in the app; without the
 * field the owner's preferences decide.
 */
const notify: PerformAction = async (deps, run, job) => {
  const notice = noticeOf(run, await deps.evaluate.notice(run));
  const { toOwner, toApp } = deps.outbound.outbox;
  const tell = run.hook.actionConfig.notifyOwner === false ? toApp : toOwner;
  const { statements, published } = tell(run.hook.userId, notice);
  await endRun(deps, run, job, {
    status: 'success',
    effect: 'done',
    result: { message: notice.body },
    statements,
  });
  published();
  return null;
};

export const noticeOf = (run: HookRun, body: string): Notice => {
  const headline = body.trim().split('\n', 1)[0] ?? '';
  return {
    kind: 'hook_notice',
    title: `${run.hook.name}: ${headline}`,
    body,
    link: `/api/hooks/${run.hook.id}/executions`,
    about: run.hook.name,
    hops: hopsOf(run),
    isDirect: run.hook.actionConfig.notifyOwner === true,
  };
};

const forward: PerformAction = async (deps, run, job, signal) => {
  await beginRun(deps, run, job, run.execution.effect);
  const ready = await authorized(deps.access.vault, run, await deps.evaluate.forward(run));
  if (typeof ready === 'string') return endRun(deps, run, job, { status: 'error', error: ready });
  const sent = await sendForward({ http: deps.http, ...ready }, job.attempts, signal);
  if (sent.verdict === 'success') {
    return endRun(deps, run, job, { status: 'success', effect: 'done', result: sent.result });
  }
  const effect = sent.effectBegan ? 'begun' : run.execution.effect;
  if (sent.verdict === 'error') {
    return endRun(deps, run, job, { status: 'error', effect, error: sent.error });
  }
  const runAt = iso(deps.clock.now() + sent.afterMs);
  const noted = deps.store.db
    .updateTable('executions')
    .set({ effect, error: `${sent.error}; attempt ${job.attempts + 1} at ${runAt}` })
    .where('id', '=', run.execution.id);
  await deps.store.transact([releaseJob(deps.store, job.id, runAt), statement(noted)]);
  deps.delayed(job.lane, runAt);
  return null;
};

/**
 * Runs the hook's tool. The owner configured it, so it waits for no approval; a tool that is denied
 * is denied here too.
 */
const executeTool: PerformAction = async (deps, run, job, signal) => {
  const { toolId = '', toolAction = '' } = run.hook.actionConfig;
  const tool = deps.access.toolbox.find(toolId, toolAction);
  const args = await deps.evaluate.arguments(run);
  const fail = (error: string) => endRun(deps, run, job, { status: 'error', error });
  if (isSmuggled(run, args)) return fail(SMUGGLED);
  if (!tool) return fail(`There is no tool ${toolId}.${toolAction}`);
  const denied = whyDenied(tool, await deps.access.permissionsOf(run.hook.userId));
  if (denied !== null) return fail(denied);
  await beginRun(deps, run, job, tool.once ? 'begun' : run.execution.effect);
  try {
    const result = await tool.run(args, {
      userId: run.hook.userId,
      agentId: null,
      executionId: run.execution.id,
      folder: await deps.access.folderOf(run.hook.userId, run.hook.id),
      signal,
      effectId: run.execution.id,
      hops: hopsOf(run),
    });
    return await endRun(deps, run, job, { status: 'success', effect: 'done', result });
  } catch (error) {
    if (!(error instanceof ToolRefused || error instanceof ToolFailed) || signal.aborted)
      throw error;
    const hasBegun = error instanceof ToolFailed && error.effectBegan;
    const effect = hasBegun ? 'begun' : 'none';
    return endRun(deps, run, job, { status: 'error', effect, error: error.message });
  }
};

const SMUGGLED = 'The payload names a credential; only what the owner wrote into toolParams may';

/**
 * True if the rendered arguments name other credentials than the owner wrote: untrusted text must
 * not become the name of a credential.
 */
const isSmuggled = (run: HookRun, rendered: Record<string, unknown>): boolean =>
  credentialsIn(run.hook.actionConfig.toolParams ?? {}).join() !== credentialsIn(rendered).join();

export const actions: Record<HookRun['hook']['action'], PerformAction> = {
  spawn_agent: spawnAgent,
  notify,
  webhook: forward,
  execute_tool: executeTool,
};
