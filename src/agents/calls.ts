import { type ApprovalRequest, approvalRows, spendApprovals } from '../approvals/module.js';
import { iso } from '../kernel/clock.js';
import { excerpt, truncateArguments } from '../kernel/excerpt.js';
import type { ToolCall } from '../providers/llm/model.js';
import type { Statement } from '../store/engine/protocol.js';
import { isCommitted, statement, unmetStep } from '../store/store.js';
import type { ApprovalRow } from '../store/tables/permissions.js';
import type { Tool } from '../tools/module.js';
import { LimitReached } from './budget.js';
import {
  type CallDecision,
  decideToolCall,
  type UndecidedCalls,
  type UsedGrant,
} from './decision.js';
import { createParallel, type StartedWork } from './parallel.js';
import { type AgentRecord, createRecord } from './record.js';
import { countRepetitions, FAIL_AT_REPETITION } from './repeats.js';
import { type AgentRun, type Interruption, type LoopDeps, waitForAgents } from './run.js';
import { readStepFacts, type StepFacts } from './snapshot.js';
import { callEffectId, findSubAgents } from './subagents.js';
import { taint } from './taint.js';
import { MAX_RESULT_LENGTH, runToolCall, type ToolResult } from './toolcall.js';
import { findOpenCalls } from './turns.js';
import { waitForOwner } from './waitforapproval.js';

/**
 * Finishes calls that were requested before a pause, a restart or an approval. A started call is
 * reported as interrupted. A call that has not started runs, unless the user has sent a message
 * since.
 */
export const finishCalls = async (
  deps: LoopDeps,
  run: AgentRun,
  facts?: StepFacts,
): Promise<'again' | Interruption> => {
  const { agent } = run;
  const { messages, permissions } = facts ?? (await readStepFacts(deps, run));
  const { calls, isOverridden } = findOpenCalls(messages, agent.id);
  if (calls.length === 0) return 'again';
  const ids = calls.map(({ id }) => id);
  const [tools, begun, approvals, subs] = await Promise.all([
    deps.access.toolsOf(agent, permissions),
    deps.rows.begunCalls(agent.id),
    approvalRows(deps.store).ofCalls(agent.id, ids),
    findSubAgents(deps, agent.id, calls),
  ]);
  const repetitions = countRepetitions(messages, agent.id);
  return runCalls(deps, run, { calls, tools, begun, approvals, subs, isOverridden, repetitions });
};

/**
 * Calls without side effects run in parallel, calls with side effects alone and in order. The start
 * of a call is committed before it runs. When all other calls are done, the agent requests the
 * approvals together, or waits for its sub-agents.
 */
export const runCalls = async (
  deps: LoopDeps,
  run: AgentRun,
  open: UndecidedCalls,
): Promise<'again' | Interruption> => {
  if (open.repetitions >= FAIL_AT_REPETITION) throw repetitionError(open);
  const { broken, questions, delegated, waiting } = await performCalls(deps, run, open);
  if (broken) return broken === 'gone' ? broken : finishCalls(deps, run);
  const isAsking = questions.length + waiting > 0;
  if (!isAsking && delegated.length === 0) return 'again';
  const outcome = isAsking
    ? await waitForOwner(deps, run, { questions, waiting })
    : await waitForAgents(deps, run, delegated);
  return outcome === 'again' ? finishCalls(deps, run) : outcome;
};

const AT_ONCE = 8;

interface CallsOutcome {
  questions: ApprovalRequest[];
  /** Calls whose results come from sub-agents. */
  delegated: ToolCall[];
  /** Number of calls that already wait for the owner. */
  waiting: number;
  /** `gone`: the agent no longer runs. `changed`: each call must be decided again. */
  broken: 'gone' | 'changed' | null;
}

const performCalls = async (
  deps: LoopDeps,
  run: AgentRun,
  open: UndecidedCalls,
): Promise<CallsOutcome> => {
  const performed: CallsOutcome = { questions: [], delegated: [], waiting: 0, broken: null };
  const parallel = createParallel(AT_ONCE, run.signal);
  try {
    for (const call of open.calls) {
      const isAlone = !changesNothing(open, call);
      if (isAlone) await parallel.settled();
      const decision = await decideToolCall(deps, run, open, call);
      if (decision.do === 'run') {
        await parallel.add(() => beginCall(deps, run, { call, ...decision, performed }));
      } else if (decision.do === 'report') {
        const write = async () => {
          if (!(await recordReport(deps, run, call, decision))) performed.broken ??= 'changed';
        };
        await parallel.add(async () => ({ result: Promise.resolve(), write }));
      } else if (decision.do === 'ask') performed.questions.push(decision.question);
      else if (decision.do === 'waitForSubAgent') performed.delegated.push(call);
      else performed.waiting++;
      if (isAlone) await parallel.settled();
      if (performed.broken) break;
    }
  } catch (error) {
    await parallel.settled().catch(() => undefined);
    throw error;
  }
  const settled = parallel.settled();
  await (performed.broken === 'gone' ? settled.catch(() => undefined) : settled);
  return performed;
};

const changesNothing = ({ tools }: UndecidedCalls, call: ToolCall): boolean =>
  tools.find(call)?.isSafe(call.arguments) !== false;

const repetitionError = ({ calls, repetitions }: UndecidedCalls): LimitReached => {
  const names = [...new Set(calls.map(({ name }) => name))].join(', ');
  const how = calls.some(({ fault }) => fault !== undefined)
    ? 'with arguments that cannot be parsed'
    : 'with the same arguments';
  return new LimitReached(
    `stopped in a loop: ${names} was called ${repetitions} times in a row ${how}`,
  );
};

interface StartedCall {
  call: ToolCall;
  tool: Tool | null;
  approval?: ApprovalRow;
  grant?: UsedGrant;
  performed: CallsOutcome;
}

/**
 * The result is stored even after a pause. The call does not run if its approval or grant is no
 * longer valid.
 */
const beginCall = async (
  deps: LoopDeps,
  { agent, signal, activeMs }: AgentRun,
  { call, tool, approval, grant, performed }: StartedCall,
): Promise<StartedWork<ToolResult | null>> => {
  const begins = createRecord(deps, agent)
    .only(['running'], { active_ms: activeMs() })
    .add(...(approval ? [spend(deps, approval)] : []))
    .add(...(grant ? [deps.access.grants.use(grant)] : []))
    .event('agent.tool_call', {
      phase: 'call',
      callId: call.id,
      tool: call.name,
      arguments: truncateArguments(call.arguments),
      ...(grant && { grantId: grant.id }),
    });
  const unmet = await unmetStep(begins.commit());
  if (unmet !== null) {
    // The first statement asserts that the agent runs.
    performed.broken = unmet === 0 ? 'gone' : 'changed';
    return { result: Promise.resolve(null), write: async () => undefined };
  }
  const since = deps.clock.now();
  const result = runToolCall(tool, call, {
    userId: agent.user_id,
    agentId: agent.id,
    executionId: agent.execution_id,
    openFolder: () => deps.access.folderOf(agent),
    signal,
    effectId: callEffectId(agent.id, call.id),
    hops: agent.hops,
    longestResult: MAX_RESULT_LENGTH,
    ...((approval || grant) && { isApproved: true }),
    ...(grant?.isUntrusted && { isByGrant: true }),
  });
  const took = result.then(() => Math.max(0, deps.clock.now() - since));
  took.catch(() => undefined);
  const write = async (toolResult: ToolResult | null): Promise<void> => {
    if (toolResult === null) return void performed.delegated.push(call);
    const { isOutside } = toolResult;
    const record = createRecord(deps, agent).add(...(isOutside ? taint(deps.store, agent) : []));
    await addResult(record, call, { ...toolResult, ms: await took }).commit();
  };
  return { result, write };
};

const spend = ({ store, clock }: LoopDeps, { id, digest }: ApprovalRow): Statement =>
  statement(
    spendApprovals(store, iso(clock.now())).where('id', '=', id).where('digest', '=', digest),
    1,
  );

/** Returns false if the text is no longer true. */
const recordReport = async (
  deps: LoopDeps,
  { agent }: AgentRun,
  call: ToolCall,
  { ok, content, holds = [] }: Extract<CallDecision, { do: 'report' }>,
): Promise<boolean> => {
  const result = { ok, content: excerpt(content, MAX_RESULT_LENGTH), ms: 0, isOutside: false };
  const record = createRecord(deps, agent).add(...holds);
  return isCommitted(addResult(record, call, result).commit());
};

const addResult = (
  record: AgentRecord,
  call: ToolCall,
  { ok, content, ms, isOutside }: ToolResult & { ms: number; isOutside: boolean },
): AgentRecord =>
  record.message({ role: 'tool', content, toolCallId: call.id }).event('agent.tool_call', {
    phase: 'result',
    callId: call.id,
    tool: call.name,
    ok,
    result: excerpt(content, 2000),
    ms,
    ...(isOutside && { fromOutside: true }),
  });
