import type { CallDetail } from '../../kernel/contract/approval.js';
import { parseExact, stringifyExact } from '../../kernel/exactjson.js';
import type { PermissionsOf } from '../../permissions/module.js';
import { denialReason } from '../../permissions/module.js';
import type { PipelineStageRow } from '../../store/tables/pipelines.js';
import { type Tool, type Toolbox, ToolFailed, ToolRefused } from '../../tools/module.js';
import { findCredentialNames } from '../../vault/module.js';
import {
  askOwner,
  type BeginStage,
  BUDGET_WAIT_REASON,
  type OwnerAskDeps,
  waitForBudget,
} from './begin.js';
import type { Budget, Reservation } from './budget.js';
import { IN_DOUBT_QUESTION, type IsInDoubt } from './indoubt.js';
import { type RunUsage, StageError } from './outcome.js';
import { asRecord, renderConfig, renderExact, renderMarkdownText } from './render.js';
import type { RunStage } from './run.js';

interface StageCall {
  toolId: string;
  toolAction: string;
  arguments: Record<string, unknown>;
  /** Name of a Markdown argument whose values are escaped. */
  markdown?: string;
  /** Set after the owner has approved this exact call. */
  isApproved?: boolean;
  /** Shown to the owner beside the arguments. */
  details?: CallDetail[];
}

export type CallOutcome = (
  | { status: 'completed'; output: unknown }
  | { status: 'failed'; error: string; output?: unknown; isInDoubt?: true }
) & { untrusted: boolean; usage?: RunUsage };

interface CallOwner {
  permissionsOf: PermissionsOf;
  credentialName(userId: string, id: string): Promise<string | null>;
  folderOf(userId: string, runId: string): Promise<string>;
}

export interface StageCallDeps extends OwnerAskDeps {
  toolbox: Toolbox;
  owner: CallOwner;
  budget: Pick<Budget, 'reserve'>;
  isInDoubt: IsInDoubt;
}

/** Maximum usage of a research job, unless the rest of the run is less. */
export const RESEARCH: Reservation = { maxTokens: 500_000, maxCostUsd: 1 };

export const createStageCalls = (deps: StageCallDeps) => {
  const findTool = (of: Pick<RunStage, 'run'>, { toolId, toolAction }: StageCall): Tool | null =>
    deps.toolbox.of(of.run.row.user_id).find(toolId, toolAction);

  const toolOf = (of: Pick<RunStage, 'run'>, call: StageCall): Tool => {
    const { toolId, toolAction } = call;
    const tool = findTool(of, call);
    if (!tool)
      throw new StageError(`Unknown tool: ${toolId}.${toolAction}. Correct toolId and toolAction`);
    return tool;
  };

  const begin: BeginStage = async (of, scope) => {
    const plain = await withCredential(
      deps,
      of,
      buildStageCall(of.stage.config, of.stage.kind, scope),
    );
    const tool = toolOf(of, plain);
    const call = withMarkdown(plain, { tool, of, scope });
    const denied = denialReason(tool, await deps.owner.permissionsOf(of.run.row.user_id));
    if (denied !== null) throw new StageError(denied);
    const isSafe = tool.isSafe(call.arguments);
    // Research that was stopped has no effect except its cost.
    if (!isSafe && of.stage.kind !== 'research' && (await deps.isInDoubt(of))) {
      const question = {
        status: 'waiting_approval',
        input: await withDetails(call, tool, of),
        headline: IN_DOUBT_QUESTION,
      } as const;
      const { change, ...rest } = askOwner(deps, of, question);
      return { change: { ...change, reason: IN_DOUBT_QUESTION }, ...rest };
    }
    const acts = tool.sendsOut || !isSafe;
    if (of.row.untrusted === 1 && acts && !of.stage.allowUntrusted) {
      const headline = `Call of ${call.toolId}.${call.toolAction} with untrusted input`;
      const input = await withDetails(call, tool, of);
      return askOwner(deps, of, { status: 'waiting_approval', input, headline });
    }
    const reserved = await reservationFor(deps.budget, of);
    if (!reserved) return waitForBudget(deps.now());
    return {
      change: { status: 'running', input: JSON.stringify(call), effect: 'begun', ...reserved },
      calls: true,
    };
  };

  const isRepeatable = ({ run, row }: RunStage): boolean => {
    const call: StageCall = JSON.parse(row.input ?? '{}');
    return findTool({ run }, call)?.isSafe(call.arguments) === true;
  };

  const perform = async (
    { run, row, stage }: RunStage,
    signal: AbortSignal,
  ): Promise<CallOutcome> => {
    const call: StageCall = JSON.parse(row.input ?? '{}');
    const isOutside = findTool({ run }, call)?.outside === true;
    const failed = (error: string): CallOutcome => ({
      status: 'failed',
      error,
      untrusted: isOutside,
    });
    try {
      const tool = toolOf({ run }, call);
      // The permission may have been removed while the stage waited for an answer.
      const denied = denialReason(tool, await deps.owner.permissionsOf(run.row.user_id));
      if (denied !== null) return failed(denied);
      const output = await tool.run(call.arguments, {
        userId: run.row.user_id,
        agentId: null,
        executionId: row.untrusted === 1 ? run.row.id : null,
        runId: run.row.id,
        openFolder: () => deps.owner.folderOf(run.row.user_id, run.row.id),
        signal,
        hops: run.row.hops,
        ...(call.isApproved && { isApproved: true }),
        ...(call.markdown !== undefined && { markdown: call.markdown }),
        effectId: `${run.row.id}-${row.key}-${row.visits}`,
      });
      const failure = tool.failureIn?.(output) ?? null;
      const untrusted = isOutside || tool.outsideIn?.(output) === true;
      const shown = { output: shownOutput(stage.kind, output), untrusted };
      return failure === null
        ? { status: 'completed', ...shown }
        : { status: 'failed', error: failure, ...shown };
    } catch (error) {
      if (error instanceof StageError || error instanceof ToolRefused) return failed(error.message);
      if (!(error instanceof ToolFailed) || signal.aborted) throw error;
      const isInDoubt = error.effectBegan && !isRepeatable({ run, row, stage });
      return { ...failed(error.message), ...(isInDoubt && { isInDoubt }) };
    }
  };

  return { begin, perform, isRepeatable };
};

/**
 * Reserves the usage of a research stage. Other stages reserve nothing. Resolves to null if other
 * stages have reserved the rest.
 */
export const reservationFor = async (
  budget: Pick<Budget, 'reserve'>,
  { run, stage, row }: RunStage,
): Promise<Partial<PipelineStageRow> | null> => {
  if (stage.kind !== 'research') return {};
  const reserved = await budget.reserve(run, RESEARCH);
  if (!reserved) return null;
  const { maxTokens: reserved_tokens, maxCostUsd: reserved_usd } = reserved;
  const isAsked = row.reason === BUDGET_WAIT_REASON;
  return { reserved_tokens, reserved_usd, ...(isAsked && { reason: null }) };
};

const buildStageCall = (
  config: Record<string, unknown>,
  kind: RunStage['stage']['kind'],
  scope: object,
): StageCall => {
  const rendered = asRecord(renderConfig(config, scope));
  // Untrusted text must not become the name of a credential.
  if (findCredentialNames(config).join() !== findCredentialNames(rendered).join()) {
    throw new StageError(
      'A rendered value refers to a credential. Only the template may refer to credentials',
    );
  }
  if (kind === 'research') {
    return { toolId: 'research', toolAction: 'start', arguments: rendered };
  }
  if (kind === 'http')
    return {
      toolId: 'http',
      toolAction: 'request',
      arguments: buildRequestArguments({ ...rendered, body: renderExact(config.body, scope) }),
    };
  return {
    toolId: String(config.toolId),
    toolAction: String(config.toolAction),
    arguments: asRecord(rendered.toolParams ?? {}),
  };
};

/** Throws StageError for a call that the tool would refuse. */
const withDetails = async (call: StageCall, tool: Tool, { run }: RunStage): Promise<StageCall> => {
  try {
    const details = await tool.describe?.(call.arguments, run.row.user_id);
    return { ...call, ...(details && { details }) };
  } catch (error) {
    throw error instanceof ToolRefused ? new StageError(error.message) : error;
  }
};

const withMarkdown = (
  call: StageCall,
  { tool, of, scope }: { tool: Tool; of: RunStage; scope: object },
): StageCall => {
  if (tool.markdown === undefined) return call;
  const text = asRecord(of.stage.config.toolParams)[tool.markdown];
  if (typeof text !== 'string') return call;
  const markdown = renderMarkdownText(text, of.run, scope);
  return markdown === call.arguments[tool.markdown] ? call : { ...call, markdown };
};

const withCredential = async (
  { owner }: StageCallDeps,
  { run, stage: { config } }: RunStage,
  call: StageCall,
): Promise<StageCall> => {
  const { credentialId } = config;
  if (typeof credentialId !== 'string') return call;
  const name = await owner.credentialName(run.row.user_id, credentialId);
  if (name === null)
    throw new StageError(
      `Unknown credential: ${credentialId}. Correct credentialId in the template`,
    );
  const headers = {
    ...asRecord(call.arguments.headers),
    authorization: `Bearer $credential(${name})`,
  };
  return { ...call, arguments: { ...call.arguments, headers } };
};

/** A body that is not a string is sent as JSON. */
const buildRequestArguments = ({ method, url, headers, body }: Record<string, unknown>) => {
  const isText = typeof body === 'string';
  const all = {
    ...(body !== undefined && !isText && { 'content-type': 'application/json' }),
    ...asRecord(headers),
  };
  return {
    method,
    url,
    ...(Object.keys(all).length > 0 && { headers: all }),
    ...(body !== undefined && { body: isText ? body : stringifyExact(body) }),
  };
};

/** A JSON body is parsed. */
const shownOutput = (kind: RunStage['stage']['kind'], output: unknown): unknown => {
  if (kind !== 'http') return output ?? null;
  const { status, headers, body } = asRecord(output);
  return { status, headers, body: typeof body === 'string' ? jsonOr(body) : body };
};

const jsonOr = (text: string): unknown => {
  try {
    return parseExact(text);
  } catch {
    return text;
  }
};
