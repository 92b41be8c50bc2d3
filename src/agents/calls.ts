import type { ApprovalRequest } from '../approvals/request.js';
import { iso } from '../kernel/clock.js';
import { excerpt, excerptOf } from '../kernel/excerpt.js';
import type { ToolCall } from '../providers/llm/model.js';
import { type Statement, Unmet } from '../store/engine/protocol.js';
import { statement, unlessUnmet } from '../store/store.js';
import type { ApprovalRow } from '../store/tables/permissions.js';
import type { Tool } from '../tools/tool.js';
import { type CallDecision, decisionOf, type UndecidedCalls } from './decision.js';
import { createParallel, type Doing, type Parallel } from './parallel.js';
import { type AgentRecord, createRecord } from './record.js';
import { ENDED_AT, repetitionsOf } from './repeats.js';
import { AgentGone, type AgentRun, CapReached, type LoopDeps } from './run.js';
import { answering, effectOf, waitForAgents } from './subagents.js';
import { taint } from './taint.js';
import { LONGEST_RESULT, runToolCall, type ToolResult } from './toolcall.js';
import { openCalls } from './turns.js';
import { waitForOwner } from './waitforapproval.js';

/**
 * Finishes calls that were requested before a pause, a restart or an approval. A call that had
 * begun is reported as interrupted. One that had not begun runs, unless the user has sent a message
 * since.
 */
export const finishCalls = async (deps: LoopDeps, run: AgentRun): Promise<void> => {
  const { agent } = run;
  const rows = await deps.rows.messages(agent.session_id);
  const { calls, isOverridden } = openCalls(rows, agent.id);
  if (calls.length === 0) return;
  const ids = calls.map(({ id }) => id);
  const [tools, begun, approvals, subs] = await Promise.all([
    deps.toolsOf(agent),
    deps.rows.begunCalls(agent.id),
    deps.approvals.ofCalls(agent.id, ids),
    answering(deps, agent.id, calls),
  ]);
  const repetitions = repetitionsOf(rows, agent.id);
  await runCalls(deps, run, { calls, tools, begun, approvals, subs, isOverridden, repetitions });
};

/**
 * Runs the calls of one reply. Calls that change nothing run in parallel; one with side effects
 * runs alone, after those before it and before those behind it. The beginning of a call is
 * committed first, and results are in the order of the calls. Calls that need the owner's approval
 * are requested together when the others are done, and the run ends (AgentGone). It also ends if
 * sub-agents have not returned their results yet.
 */
export const runCalls = async (
  deps: LoopDeps,
  run: AgentRun,
  open: UndecidedCalls,
): Promise<void> => {
  if (open.repetitions >= ENDED_AT) throw inCircles(open);
  const { isVoid, questions, delegated, waiting } = await performCalls(deps, run, open);
  if (isVoid) return finishCalls(deps, run);
  const rests =
    questions.length + waiting > 0
      ? await waitForOwner(deps, run, { questions, waiting })
      : delegated.length === 0 || (await waitForAgents(deps, run, delegated));
  // A decision that came in between has changed the situation, so the calls are judged again.
  if (!rests) await finishCalls(deps, run);
};

/** The number of calls of one reply that run at once. */
const AT_ONCE = 8;

/** The outcome of the calls of one reply. */
interface Performed {
  questions: ApprovalRequest[];
  /** Calls whose result a sub-agent will bring. */
  delegated: ToolCall[];
  /** The number of calls that wait for the owner already. */
  waiting: number;
  /** True if something has changed meanwhile, so that each call must be judged again. */
  isVoid: boolean;
}

const performCalls = async (
  deps: LoopDeps,
  run: AgentRun,
  open: UndecidedCalls,
): Promise<Performed> => {
  const performed: Performed = { questions: [], delegated: [], waiting: 0, isVoid: false };
  const parallel = createParallel(AT_ONCE, run.signal);
  try {
    for (const call of open.calls) {
      const isAlone = !changesNothing(open, call);
      if (isAlone) await parallel.settled();
      await performCall(deps, run, { open, call, parallel, performed });
      if (isAlone) await parallel.settled();
      if (performed.isVoid) break;
    }
  } catch (error) {
    await parallel.settled().catch(() => undefined);
    throw error;
  }
  await parallel.settled();
  return performed;
};

const changesNothing = ({ tools }: UndecidedCalls, call: ToolCall): boolean =>
  tools.find(call)?.isSafe(call.arguments) !== false;

interface Performing {
  open: UndecidedCalls;
  call: ToolCall;
  parallel: Parallel;
  performed: Performed;
}

const performCall = async (
  deps: LoopDeps,
  run: AgentRun,
  { open, call, parallel, performed }: Performing,
): Promise<void> => {
  const decision = await decisionOf(deps, run, open, call);
  if (decision.do === 'run')
    await parallel.add(() => beginCall(deps, run, { call, ...decision, performed }));
  else if (decision.do === 'tell') {
    const write = async () => {
      if (!(await tell(deps, run, call, decision))) performed.isVoid = true;
    };
    await parallel.add(async () => ({ result: Promise.resolve(), write }));
  } else if (decision.do === 'ask') performed.questions.push(decision.question);
  else if (decision.do === 'await') performed.delegated.push(call);
  else performed.waiting++;
};

const inCircles = ({ calls, repetitions }: UndecidedCalls): CapReached => {
  const names = [...new Set(calls.map(({ name }) => name))].join(', ');
  return new CapReached(
    `it went round in circles: ${names} was asked for ${repetitions} times in a row with the same arguments`,
  );
};

interface StartedCall {
  call: ToolCall;
  tool: Tool | null;
  approval?: ApprovalRow;
  performed: Performed;
}

/**
 * Commits the beginning of a call, then runs it. Its result is stored even if a pause came first.
 * The call does not run if its approval is no longer valid.
 */
const beginCall = async (
  deps: LoopDeps,
  { agent, signal, activeMs }: AgentRun,
  { call, tool, approval, performed }: StartedCall,
): Promise<Doing<ToolResult | null>> => {
  const begins = createRecord(deps, agent)
    .only(['running'], { active_ms: activeMs() })
    .add(...(approval ? [spend(deps, approval)] : []))
    .event('agent.tool_call', {
      phase: 'call',
      callId: call.id,
      tool: call.name,
      arguments: excerptOf(call.arguments),
    });
  if (!(await began(begins))) {
    performed.isVoid = true;
    return { result: Promise.resolve(null), write: async () => undefined };
  }
  const since = deps.clock.now();
  const result = runToolCall(tool, call, {
    userId: agent.user_id,
    agentId: agent.id,
    executionId: agent.execution_id,
    folder: await deps.folderOf(agent),
    signal,
    effectId: effectOf(agent.id, call.id),
    hops: agent.hops,
    ...(approval && { isApproved: true }),
  });
  const took = result.then(() => Math.max(0, deps.clock.now() - since));
  took.catch(() => undefined);
  const write = async (came: ToolResult | null): Promise<void> => {
    if (came === null) return void performed.delegated.push(call);
    const isOutside = tool?.outside === true;
    const record = createRecord(deps, agent).add(...(isOutside ? taint(deps.store, agent) : []));
    await addResult(record, call, { ...came, ms: await took, isOutside }).commit();
  };
  return { result, write };
};

/** Returns false if something other than the agent's own state forbids it. */
const began = async (record: AgentRecord): Promise<boolean> => {
  try {
    await record.commit();
    return true;
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    if (error.at === 0) throw new AgentGone();
    return false;
  }
};

/**
 * Builds the statement that uses up an approval. It is valid once, in the transaction in which the
 * call begins.
 */
const spend = ({ store, clock }: LoopDeps, { id, digest }: ApprovalRow): Statement =>
  statement(
    store.db
      .updateTable('approvals')
      .set({ used_at: iso(clock.now()) })
      .where('id', '=', id)
      .where('digest', '=', digest)
      .where('status', '=', 'approved')
      .where('used_at', 'is', null),
    1,
  );

/**
 * Tells the model why a call was not run, or what its sub-agent returned. Returns false if the text
 * is no longer true.
 */
const tell = async (
  deps: LoopDeps,
  { agent }: AgentRun,
  call: ToolCall,
  { ok, content, holds = [] }: Extract<CallDecision, { do: 'tell' }>,
): Promise<boolean> => {
  const result = { ok, content: excerpt(content, LONGEST_RESULT), ms: 0, isOutside: false };
  const record = createRecord(deps, agent).add(...holds);
  return unlessUnmet(addResult(record, call, result).commit());
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
