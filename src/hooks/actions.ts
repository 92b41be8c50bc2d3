import {
  JOB as AGENT_JOB,
  type Models,
  type SpawnRequest,
  spawnRecord,
  webhookPrompt,
} from '../agents/module.js';
import { addClaimedJob, type Job } from '../jobs/module.js';
import { iso } from '../kernel/clock.js';
import type { Http } from '../kernel/http.js';
import { pageLink } from '../kernel/pagepath.js';
import type { Notice } from '../outbound/module.js';
import { denialReason, type PermissionsOf } from '../permissions/module.js';
import type { StatementResult } from '../store/engine/protocol.js';
import { procedureStep, resultOfLast, statement } from '../store/store.js';
import {
  type Tool,
  type Toolbox,
  type ToolContext,
  ToolFailed,
  ToolRefused,
} from '../tools/module.js';
import { findCredentialNames, type Vault } from '../vault/module.js';
import { authorized, sendForward } from './forward.js';
import type { OpenedHook } from './hook.js';
import { beginRun, beginStatement, endRun, publishRun, type RunOutcome } from './outcome.js';
import { type HookPipelines, startPipeline } from './pipelines.js';
import type { NoticeText } from './render.js';
import { countRunHops, formatRunPayload, getPromptEvent, type HookRun } from './run.js';
import { isAdmittedAtSpawn, isFirst, type StopsDeps } from './stops.js';

export interface ActionDeps extends StopsDeps {
  http: Http;
  boot: string;
  access: HookAccess;
  delayed(lane: string, runAt: string): void;
}

export interface HookAccess {
  models: Models;
  toolbox: Toolbox;
  permissionsOf: PermissionsOf;
  vault: Vault;
  pipelines: HookPipelines;
  folderOf(userId: string, name: string): Promise<string>;
}

/**
 * Performs the action and writes its outcome. Resolves to the job that continues in the lane, or
 * null.
 */
export type PerformAction = (
  deps: ActionDeps,
  run: HookRun,
  job: Job,
  signal: AbortSignal,
) => Promise<Job | null>;

const spawnAgent: PerformAction = async (deps, run, job) => {
  const { store } = deps;
  const { id, record } = spawnRecord(deps, agentToSpawn(run, deps.access.models));
  const next = { kind: AGENT_JOB, ref: id, lane: job.lane };
  const admission = { executionId: run.execution.id, hookId: run.hook.id, now: record.at };
  const isAdmitting = isFirst(run) && isAdmittedAtSpawn(run);
  const outcomes = await record
    .add(
      ...(isAdmitting ? [procedureStep('admitUnlimited', admission)] : []),
      beginStatement(run, { agent_id: id, effect: 'begun', run_at: null, boot: null }),
      addClaimedJob(store, { ...next, runAt: record.at, boot: deps.boot }),
      procedureStep('beginAgent', { id, at: record.at }),
    )
    .commit();
  publishRun(deps, run, { status: 'running', agentId: id });
  const beginning = resultOfLast('beginAgent', outcomes);
  return { ...next, id: rowId(outcomes.at(-2)), attempts: 1, beginning };
};

const rowId = (outcome: StatementResult | undefined): number => {
  const [row] = outcome?.rows ?? [];
  return typeof row === 'object' && row !== null && 'id' in row ? Number(row.id) : 0;
};

export const agentToSpawn = (run: HookRun, models: Models): SpawnRequest => {
  const { hook, execution } = run;
  const { agentPrompt, agentTopic, agentModel, agentTools, ...config } = hook.actionConfig;
  return {
    userId: hook.userId,
    prompt: webhookPrompt(
      agentPrompt ?? '',
      formatRunPayload(run),
      getPromptEvent(run),
      execution.trigger === 'email' ? 'E-mail' : undefined,
    ),
    model: agentModel ?? models.routed(agentTopic),
    name: `${hook.name}-${execution.id.slice(-6)}`,
    ...(agentTopic !== undefined && { topic: agentTopic }),
    ...(agentTools && { tools: agentTools }),
    channel: 'hook',
    untrusted: run.delivery !== null || hook.trigger !== 'schedule',
    hookId: hook.id,
    executionId: execution.id,
    hops: countRunHops(run),
    notifyOwner: config.notifyOwner === true,
    orchestrated: config.orchestrated === true,
    memory: config.memory === true,
    limits: hook.limits,
    lane: hook.id,
  };
};

/**
 * True if the effects of the hook's action are all in the database: a notification, or a tool that
 * has none and asks nobody outside.
 */
export const isDatabaseOnly = (
  toolbox: Toolbox,
  { userId, action, actionConfig }: Pick<OpenedHook, 'userId' | 'action' | 'actionConfig'>,
): boolean => {
  if (action === 'notify') return true;
  if (action !== 'execute_tool') return false;
  const { toolId = '', toolAction = '' } = actionConfig;
  const tool = toolbox.of(userId).find(toolId, toolAction);
  return tool !== null && !tool.sideEffects && !tool.once && !tool.sendsOut && !tool.outside;
};

/**
 * With `notifyOwner: false` the notification stays in the app. Without it, the owner's preferences
 * decide.
 */
export const databaseOutcome = async (
  deps: ActionDeps,
  run: HookRun,
  { signal, setting }: { signal: AbortSignal; setting(): Promise<ToolSetting> },
): Promise<RunOutcome> => {
  if (run.hook.action === 'notify') return noticeOutcome(run, await deps.evaluate.notice(run));
  const call = await prepareToolCall(deps, run, await setting());
  return 'fault' in call ? { status: 'error', error: call.fault } : runTool(run, call, signal);
};

interface ToolSetting {
  permissions: Awaited<ReturnType<PermissionsOf>>;
  openFolder: ToolContext['openFolder'];
}

export interface ToolCallDeps {
  evaluate: ActionDeps['evaluate'];
  access: Pick<HookAccess, 'toolbox' | 'permissionsOf' | 'folderOf'>;
}

/** Executions of one batch share the setting, so it is read once. */
export const toolSetting = async (
  { access }: ToolCallDeps,
  { userId, id }: OpenedHook,
): Promise<ToolSetting> => ({
  permissions: await access.permissionsOf(userId),
  openFolder: () => access.folderOf(userId, id),
});

export const noticeOutcome = (
  run: HookRun,
  { body, markdown, unfilled }: NoticeText,
): RunOutcome => ({
  status: 'success',
  effect: 'done',
  // A name without a value stays in the text, so the execution says which.
  result: { message: body, ...(unfilled.length > 0 && { unfilled }) },
  notice: {
    notice: { ...buildHookNotice(run, body), markdown },
    isSent: run.hook.actionConfig.notifyOwner !== false,
  },
});

const notify: PerformAction = async (deps, run) =>
  endRun(deps, run, noticeOutcome(run, await deps.evaluate.notice(run)));

export const buildHookNotice = (run: HookRun, body: string): Notice => ({
  kind: 'hook_notice',
  title: run.hook.name,
  body,
  link: pageLink('execution', run.execution.id),
  about: run.hook.name,
  hops: countRunHops(run),
  isDirect: run.hook.actionConfig.notifyOwner === true,
});

const forward: PerformAction = async (deps, run, job, signal) => {
  await beginRun(deps, run, run.execution.effect);
  const rendered = await deps.evaluate.forward(run);
  if (rendered.fault !== undefined) {
    return endRun(deps, run, { status: 'error', error: rendered.fault });
  }
  const ready = await authorized(deps.access.vault, run, rendered);
  if (typeof ready === 'string') return endRun(deps, run, { status: 'error', error: ready });
  const sent = await sendForward({ http: deps.http, ...ready }, job.attempts, signal);
  const { unfilled, note } = rendered;
  if (sent.verdict === 'success') {
    const result = { ...sent.result, ...(unfilled && { unfilled }), ...(note && { note }) };
    return endRun(deps, run, { status: 'success', effect: 'done', result });
  }
  const effect = sent.effectBegan ? 'begun' : run.execution.effect;
  if (sent.verdict === 'error') {
    const error = [sent.error, ...(note ? [note] : [])].join('. ');
    return endRun(deps, run, { status: 'error', effect, error });
  }
  const runAt = iso(deps.clock.now() + sent.afterMs);
  const error = `${sent.error}; attempt ${job.attempts + 1} at ${runAt}`;
  const released = deps.store.db
    .updateTable('executions')
    .set({ effect, error, run_at: runAt, boot: null })
    .where('id', '=', run.execution.id)
    .where('run_at', 'is not', null);
  await deps.store.transact([statement(released, 1)]);
  deps.delayed(job.lane, runAt);
  return null;
};

interface HookToolCall {
  tool: Tool;
  args: Record<string, unknown>;
  context: Pick<ToolContext, 'openFolder' | 'markdown'>;
}

/** The owner configured the call, so it needs no approval. A denied tool is denied here too. */
const prepareToolCall = async (
  deps: ToolCallDeps,
  run: HookRun,
  { permissions, openFolder }: ToolSetting,
): Promise<HookToolCall | { fault: string }> => {
  const { toolId = '', toolAction = '' } = run.hook.actionConfig;
  const tool = deps.access.toolbox.of(run.hook.userId).find(toolId, toolAction);
  const args = await deps.evaluate.arguments(run);
  if (addsCredential(run, args)) return { fault: CREDENTIAL_IN_PAYLOAD };
  if (!tool)
    return { fault: `Unknown tool: ${toolId}.${toolAction}. Correct toolId and toolAction` };
  const denied = denialReason(tool, permissions);
  if (denied !== null) return { fault: denied };
  const escaped = tool.markdown === undefined ? {} : await deps.evaluate.markdown(run);
  const markdown = escaped[tool.markdown ?? ''];
  return { tool, args, context: { openFolder, ...(markdown !== undefined && { markdown }) } };
};

/** The call, and the reason why it would fail. */
export const previewToolCall = async (
  deps: ToolCallDeps,
  run: HookRun,
): Promise<Record<string, unknown>> => {
  const { toolId, toolAction } = run.hook.actionConfig;
  const call = await prepareToolCall(deps, run, await toolSetting(deps, run.hook));
  if ('fault' in call) {
    const args = await deps.evaluate.arguments(run);
    return { toolId, toolAction, arguments: args, fault: call.fault };
  }
  const { tool, args, context } = call;
  const { markdown } = context;
  const shown = {
    toolId,
    toolAction,
    arguments: args,
    ...(markdown !== undefined && { markdown }),
  };
  // The value of a credential may be valid where its name is not.
  if (findCredentialNames(args).length > 0) return shown;
  try {
    tool.validate?.(args);
    return shown;
  } catch (error) {
    if (!(error instanceof ToolRefused)) throw error;
    return { ...shown, fault: error.message };
  }
};

const executeTool: PerformAction = async (deps, run, _, signal) => {
  const call = await prepareToolCall(deps, run, await toolSetting(deps, run.hook));
  if ('fault' in call) return endRun(deps, run, { status: 'error', error: call.fault });
  await beginRun(deps, run, call.tool.once ? 'begun' : run.execution.effect);
  return endRun(deps, run, await runTool(run, call, signal));
};

const runTool = async (
  run: HookRun,
  { tool, args, context }: HookToolCall,
  signal: AbortSignal,
): Promise<RunOutcome> => {
  try {
    const result = await tool.run(args, {
      userId: run.hook.userId,
      agentId: null,
      executionId: run.execution.id,
      ...context,
      signal,
      effectId: run.execution.id,
      hops: countRunHops(run),
    });
    const failure = tool.failureIn?.(result) ?? null;
    if (failure === null) return { status: 'success', effect: 'done', result };
    const effect = tool.isSafe(args) ? 'none' : 'begun';
    return { status: 'error', effect, error: failure, result };
  } catch (error) {
    if (!(error instanceof ToolRefused || error instanceof ToolFailed) || signal.aborted)
      throw error;
    const hasBegun = error instanceof ToolFailed && error.effectBegan;
    const effect = hasBegun ? 'begun' : 'none';
    return { status: 'error', effect, error: error.message };
  }
};

const CREDENTIAL_IN_PAYLOAD =
  'The payload contains a credential reference. Only the toolParams of the hook may contain one';

/** Untrusted text must not become the name of a credential. */
const addsCredential = (run: HookRun, rendered: Record<string, unknown>): boolean =>
  findCredentialNames(run.hook.actionConfig.toolParams ?? {}).join() !==
  findCredentialNames(rendered).join();

export const actions: Record<HookRun['hook']['action'], PerformAction> = {
  spawn_agent: spawnAgent,
  notify,
  webhook: forward,
  execute_tool: executeTool,
  start_pipeline: async (deps, run) => {
    const { pipelines } = deps.access;
    const params = await deps.evaluate.arguments(run);
    return startPipeline(deps, run, { pipelines, params });
  },
};
