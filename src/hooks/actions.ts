import { JOB as AGENT_JOB, webhookPrompt } from '../agents/agent.js';
import type { Models } from '../agents/models.js';
import { type SpawnRequest, spawnRecord } from '../agents/spawn.js';
import type { Job } from '../jobs/queue.js';
import { becomeJob, releaseJob } from '../jobs/statements.js';
import { iso } from '../kernel/clock.js';
import type { Http } from '../kernel/http.js';
import type { Notice, Outbox } from '../outbound/outbox.js';
import type { PermissionsOf } from '../permissions/effective.js';
import { whyDenied } from '../permissions/rules.js';
import { type Store, statement } from '../store/store.js';
import { type Tool, ToolFailed, ToolRefused } from '../tools/tool.js';
import type { Toolbox } from '../tools/toolbox.js';
import { credentialsIn } from '../vault/references.js';
import type { Vault } from '../vault/vault.js';
import type { Evaluator } from './evaluate.js';
import { sendForward } from './forward.js';
import { authorized } from './forwardauth.js';
import { beginRun, beginStatements, endRun, type OutcomeDeps, publishRun } from './outcome.js';
import { type HookRun, hopsOf, payloadOf, toldEventOf } from './run.js';

export interface ActionDeps extends OutcomeDeps {
  store: Store;
  outbox: Outbox;
  http: Http;
  toolbox: Toolbox;
  evaluate: Evaluator;
  vault: Pick<Vault, 'borrow' | 'used'>;
  models: Models;
  permissionsOf: PermissionsOf;
  folderOf(userId: string, name: string): Promise<string>;
  delayed(lane: string, runAt: string): void;
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
  const { id, record } = spawnRecord(deps, agentToSpawn(run, deps.models));
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
    prompt: webhookPrompt(agentPrompt ?? '', payloadOf(run), toldEventOf(run)),
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
  const { toOwner, toApp } = deps.outbox;
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
  const ready = await authorized(deps.vault, run, await deps.evaluate.forward(run));
  if (typeof ready === 'string') {
    await endRun(deps, run, job, { status: 'error', error: ready });
    return null;
  }
  const sent = await sendForward({ ...deps, ...ready }, job.attempts, signal);
  if (sent.verdict === 'success') {
    await endRun(deps, run, job, { status: 'success', effect: 'done', result: sent.result });
    return null;
  }
  const effect = sent.effectBegan ? 'begun' : run.execution.effect;
  if (sent.verdict === 'error') {
    await endRun(deps, run, job, { status: 'error', effect, error: sent.error });
    return null;
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
  const tool = deps.toolbox.find(toolId, toolAction);
  const args = await deps.evaluate.arguments(run);
  const refused = isSmuggled(run, args) ? SMUGGLED : await whyNot(deps, run, tool);
  if (!tool || refused !== null) {
    await endRun(deps, run, job, { status: 'error', error: refused ?? 'No such tool' });
    return null;
  }
  await beginRun(deps, run, job, tool.once ? 'begun' : run.execution.effect);
  try {
    const result = await tool.run(args, {
      userId: run.hook.userId,
      agentId: null,
      executionId: run.execution.id,
      folder: await deps.folderOf(run.hook.userId, run.hook.id),
      signal,
      effectId: run.execution.id,
      hops: hopsOf(run),
    });
    await endRun(deps, run, job, { status: 'success', effect: 'done', result });
  } catch (error) {
    if (!(error instanceof ToolRefused || error instanceof ToolFailed) || signal.aborted)
      throw error;
    const hasBegun = error instanceof ToolFailed && error.effectBegan;
    const effect = hasBegun ? 'begun' : 'none';
    await endRun(deps, run, job, { status: 'error', effect, error: error.message });
  }
  return null;
};

const whyNot = async (
  deps: ActionDeps,
  run: HookRun,
  tool: Tool | null,
): Promise<string | null> => {
  const { toolId, toolAction } = run.hook.actionConfig;
  if (!tool) return `There is no tool ${toolId}.${toolAction}`;
  return whyDenied(tool, await deps.permissionsOf(run.hook.userId));
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
