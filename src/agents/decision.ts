import { callDigest, type ExactCall } from '../approvals/digest.js';
import {
  type ApprovalRequest,
  CONVERSATION_MS,
  HOOK_MS,
  LONGEST_ARGUMENTS,
} from '../approvals/request.js';
import { canonical } from '../kernel/canonicaljson.js';
import { judge } from '../permissions/rules.js';
import type { ToolCall } from '../providers/llm/model.js';
import type { Statement } from '../store/engine/protocol.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { ApprovalRow } from '../store/tables/permissions.js';
import type { Tool } from '../tools/tool.js';
import { TOLD_AT } from './repeats.js';
import type { AgentRun, LoopDeps } from './run.js';
import { broughtBy, onlyUnfinished, stillAtWork } from './subagents.js';
import { agentTrust } from './taint.js';
import type { Toolset } from './toolset.js';
import { INTERRUPTED } from './turns.js';

/** The calls of one answer that have no result yet, and what is known of them. */
export interface UndecidedCalls {
  calls: ToolCall[];
  tools: Toolset;
  /** Ids of those that were begun before this run. */
  begun: Set<unknown>;
  /** By the id of the call. */
  approvals: Map<string, ApprovalRow>;
  /** Sub-agents that answer them, by the id of the call. */
  subs: Map<string, AgentRow>;
  /** Somebody has said something since they were asked for. */
  isOverridden: boolean;
  /** How many times in a row the same was asked for. */
  repetitions: number;
}

/** Of calls of which nobody has heard yet. */
export const UNTOUCHED = {
  begun: new Set(),
  approvals: new Map(),
  subs: new Map(),
  isOverridden: false,
};

/** What becomes of one call. */
export type Course =
  | { do: 'run'; tool: Tool | null; approval?: ApprovalRow }
  /** `holds`: what must be so when it is told, or the call is looked at again. */
  | { do: 'tell'; ok: boolean; content: string; holds?: Statement[] }
  | { do: 'ask'; question: ApprovalRequest }
  /** It was asked for already. */
  | { do: 'wait' }
  /** A sub-agent is at it. */
  | { do: 'await' };

const OVERRIDDEN = 'Not run: a message came in first.';
const REPEATED =
  'Not run: you have asked for exactly this several times in a row. The answer will not change. ' +
  'Do something else, or answer with what you have.';

/** Judged right before the call, by what holds then: permissions, trust and the owner's answer. */
export const courseOf = async (
  deps: LoopDeps,
  { agent }: AgentRun,
  open: UndecidedCalls,
  call: ToolCall,
): Promise<Course> => {
  const sub = open.subs.get(call.id);
  if (sub) return brought(deps, sub, open.isOverridden);
  if (open.begun.has(call.id)) return tell(INTERRUPTED);
  const tool = open.tools.find(call);
  const approval = open.approvals.get(call.id);
  if (approval?.used_at != null) return tell(open.isOverridden ? OVERRIDDEN : INTERRUPTED);
  if (approval) return answered(approval, tool, tool && exactly(agent.id, tool, call));
  if (open.isOverridden) return tell(OVERRIDDEN);
  if (open.repetitions >= TOLD_AT) return tell(REPEATED);
  if (!tool) return { do: 'run', tool };
  const [standing, now] = await Promise.all([
    deps.standingOf(agent.user_id),
    deps.rows.byId(agent.id),
  ]);
  const trust = agentTrust(now ?? agent);
  const { level, because } = judge(tool, call.arguments, { standing, trust });
  if (level === 'allow') return { do: 'run', tool };
  if (level === 'deny') return tell(`Denied: ${because}. It was not run.`);
  if (canonical(call.arguments).length > LONGEST_ARGUMENTS) {
    return tell(
      'Not run: it needs an approval, and its arguments are too long to be read for one.',
    );
  }
  const question = {
    ...exactly(agent.id, tool, call),
    userId: agent.user_id,
    callId: call.id,
    asker: agent.name,
    reason: because,
    isUntrusted: trust.isUntrusted,
    ttlMs: agent.hook_id === null ? CONVERSATION_MS : HOOK_MS,
  };
  return { do: 'ask', question };
};

const tell = (content: string): Course => ({ do: 'tell', ok: false, content });

/** Somebody who has said something since does not wait for a sub-agent. */
const brought = (deps: LoopDeps, sub: AgentRow, isOverridden: boolean): Course => {
  const result = broughtBy(sub);
  if (result) return { do: 'tell', ...result };
  if (!isOverridden) return { do: 'await' };
  const holds = [onlyUnfinished(deps.store, [sub.effect_id])];
  return { do: 'tell', ok: true, content: stillAtWork(sub), holds };
};

const exactly = (agentId: string, tool: Tool, call: ToolCall): ExactCall => ({
  agentId,
  tool: tool.skillId,
  action: tool.name,
  arguments: call.arguments,
});

/** The call is compared with what was approved once more: only that very call is run, and once. */
const answered = (approval: ApprovalRow, tool: Tool | null, call: ExactCall | null): Course => {
  const { status, decided_by: by, decision_reason: reason } = approval;
  if (status === 'pending') return { do: 'wait' };
  if (status === 'expired') return tell('Denied: nobody approved it in time. It was not run.');
  if (status === 'denied') {
    const who = by === null ? 'Not approved' : 'Denied by the owner';
    return tell(`${who}${reason === null ? '' : `: ${reason}`}. It was not run.`);
  }
  if (!tool || !call) return tell('Not run: the tool is not there any more.');
  if (callDigest(call) !== approval.digest) {
    return tell('Denied: the call is not the one that was approved. It was not run.');
  }
  return { do: 'run', tool, approval };
};
