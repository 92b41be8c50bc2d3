import {
  type ApprovalRequest,
  callDigest,
  type ExactCall,
  listGrantScopes,
  MAX_ARGUMENTS_LENGTH,
} from '../approvals/module.js';
import { canonical } from '../kernel/jsonvalue.js';
import { judgeToolCall } from '../permissions/module.js';
import type { ToolCall } from '../providers/llm/model.js';
import type { Statement } from '../store/engine/protocol.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { ApprovalRow, GrantRow } from '../store/tables/permissions.js';
import { type Tool, ToolRefused } from '../tools/module.js';
import { appendNote } from './end.js';
import { WARN_AT_REPETITION } from './repeats.js';
import type { AgentRun, LoopDeps } from './run.js';
import { readFacts } from './snapshot.js';
import { assertUnfinished, stillRunningText, subAgentResult } from './subagents.js';
import { trustAtReply } from './taint.js';
import type { Toolset } from './toolset.js';
import { INTERRUPTED } from './turns.js';
import { buildApprovalRequest } from './waitforapproval.js';

export interface UndecidedCalls {
  calls: ToolCall[];
  tools: Toolset;
  /** IDs of calls that started before this run. */
  begun: Set<unknown>;
  approvals: Map<string, ApprovalRow>;
  subs: Map<string, AgentRow>;
  /** Whether the user has sent a message since the calls were requested. */
  isOverridden: boolean;
  /** Number of times in a row that the same calls were requested. */
  repetitions: number;
}

export const NEW_CALL_STATE = {
  begun: new Set(),
  approvals: new Map(),
  subs: new Map(),
  isOverridden: false,
};

/** The grant with the trust at the time of the decision. */
export interface UsedGrant extends GrantRow {
  isUntrusted: boolean;
}

export type CallDecision =
  | { do: 'run'; tool: Tool | null; approval?: ApprovalRow; grant?: UsedGrant }
  /** `holds` are the conditions of the report. If one fails, the call is decided again. */
  | { do: 'report'; ok: boolean; content: string; holds?: Statement[] }
  | { do: 'ask'; question: ApprovalRequest }
  /** The approval has already been requested. */
  | { do: 'waitForOwner' }
  /** A sub-agent works on the call. */
  | { do: 'waitForSubAgent' };

const OVERRIDDEN = 'Not run: a new message arrived first.';
const REPEATED =
  'Not run: you have made exactly this call several times in a row. The result will not change. ' +
  'Try something else, or answer with the information you have.';

const unreadableText = (tool: string, fault: string): string =>
  `Not run. Call ${tool} again with one JSON object that matches its schema. ` +
  `The arguments of this call cannot be parsed: ${fault}`;

/**
 * Decides right before the call runs, by the current permissions, grants and approvals, and by the
 * trust that the agent had when it chose the call.
 */
export const decideToolCall = async (
  deps: LoopDeps,
  run: AgentRun,
  open: UndecidedCalls,
  call: ToolCall,
): Promise<CallDecision> => {
  const { agent } = run;
  if (call.fault !== undefined) return report(unreadableText(call.name, call.fault));
  const sub = open.subs.get(call.id);
  if (sub) return subAgentDecision(deps, sub, open.isOverridden);
  if (open.begun.has(call.id)) return report(INTERRUPTED);
  const tool = open.tools.find(call);
  const approval = open.approvals.get(call.id);
  if (approval?.used_at != null) return report(open.isOverridden ? OVERRIDDEN : INTERRUPTED);
  if (approval) return decisionBy(agent, { approval, tool, call });
  if (open.isOverridden) return report(OVERRIDDEN);
  if (open.repetitions >= WARN_AT_REPETITION) return report(REPEATED);
  if (!tool) return { do: 'run', tool };
  const { permissions, now } = await readFacts(deps, run);
  const trust = trustAtReply(now);
  const { level, because } = judgeToolCall(tool, call.arguments, { permissions, trust });
  if (level === 'allow') return { do: 'run', tool };
  if (level === 'deny') return report(`Denied: ${because}. It was not run.`);
  const judged = { tool, arguments: call.arguments, isUntrusted: trust.isUntrusted };
  const grant = await deps.access.grants.covering(now, judged);
  if (grant) return { do: 'run', tool, grant: { ...grant, isUntrusted: trust.isUntrusted } };
  if (canonical(call.arguments).length > MAX_ARGUMENTS_LENGTH) {
    return report(
      'Not run: the call needs an approval, but its arguments are too long to be reviewed.',
    );
  }
  const why = {
    callId: call.id,
    reason: because,
    isUntrusted: trust.isUntrusted,
    grantScopes: listGrantScopes(judged),
    definitionDigest: tool.definitionDigest,
  };
  const exact = await describeCall(agent, tool, call);
  if (typeof exact === 'string') return report(exact);
  return { do: 'ask', question: buildApprovalRequest(agent, exact, why) };
};

const report = (content: string): CallDecision => ({ do: 'report', ok: false, content });

/** After a message from the user, the agent no longer waits. */
const subAgentDecision = async (
  deps: LoopDeps,
  sub: AgentRow,
  isOverridden: boolean,
): Promise<CallDecision> => {
  const result = subAgentResult(sub);
  if (result?.ok && sub.note !== null) {
    const content = appendNote({ result: result.content, note: sub.note });
    return { do: 'report', ok: true, content };
  }
  if (result) return { do: 'report', ...result };
  if (!isOverridden) return { do: 'waitForSubAgent' };
  const holds = [assertUnfinished(deps.store, [sub.effect_id])];
  return { do: 'report', ok: true, content: stillRunningText(sub), holds };
};

/** The call with its details, or the reason why the tool would refuse it. */
const describeCall = async (
  { id: agentId, user_id: userId }: AgentRow,
  tool: Tool,
  call: ToolCall,
): Promise<ExactCall | string> => {
  const { skillId, name: action } = tool;
  try {
    const details = await tool.describe?.(call.arguments, userId);
    const exact = { agentId, tool: skillId, action, arguments: call.arguments };
    return { ...exact, ...(details && { details }) };
  } catch (error) {
    if (error instanceof ToolRefused) return error.message;
    throw error;
  }
};

/** The call and its details are compared with the approved ones again. The call runs only once. */
const decisionBy = async (
  agent: AgentRow,
  { approval, tool, call }: { approval: ApprovalRow; tool: Tool | null; call: ToolCall },
): Promise<CallDecision> => {
  const { status, decided_by: by, decision_reason: reason } = approval;
  if (status === 'pending') return { do: 'waitForOwner' };
  if (status === 'expired') return report('Denied: the approval expired. It was not run.');
  if (status === 'denied') {
    const who = by === null ? 'Not approved' : 'Denied by the owner';
    return report(`${who}${reason === null ? '' : `: ${reason}`}. It was not run.`);
  }
  if (!tool) return report('Not run: the tool no longer exists.');
  const exact = await describeCall(agent, tool, call);
  if (typeof exact === 'string') return report(exact);
  if (callDigest(exact) !== approval.digest) {
    return report('Denied: the call differs from the approved call. It was not run.');
  }
  return { do: 'run', tool, approval };
};
