import { iso } from '../../kernel/clock.js';
import type { ToolCall } from '../../providers/llm/model.js';
import { type Statement, Unmet } from '../../store/protocol.js';
import { statement } from '../../store/store.js';
import type { ApprovalRow } from '../../store/tables/permissions.js';
import type { Question } from '../approvals/asking.js';
import type { Tool } from '../tools/tool.js';
import { answering, effectOf, waitForAgents } from './awaiting.js';
import { courseOf, type OpenCalls } from './course.js';
import { excerpt, excerptOf } from './excerpt.js';
import { type AgentRecord, createRecord } from './record.js';
import { ENDED_AT, repetitionsOf } from './repeats.js';
import { CapReached, Gone, type LoopDeps, type Run } from './run.js';
import { taint } from './taint.js';
import { LONGEST_RESULT, runTool, type ToolResult } from './toolcall.js';
import { openCalls } from './turns.js';
import { waitForOwner } from './waiting.js';

/**
 * Calls that were asked for before a pause, a restart or an approval: told as interrupted if they
 * had begun; run if they had not, unless somebody has said something since.
 */
export const finishCalls = async (deps: LoopDeps, run: Run): Promise<void> => {
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
 * The calls of one answer, one after the other, each committed before the next begins. Those that
 * need the owner's word are asked for together when the others are done, and the run ends (Gone); so
 * it does where sub-agents have not brought their results yet.
 */
export const runCalls = async (deps: LoopDeps, run: Run, open: OpenCalls): Promise<void> => {
  if (open.repetitions >= ENDED_AT) throw inCircles(open);
  const questions: Question[] = [];
  const delegated: ToolCall[] = [];
  let waiting = 0;
  for (const call of open.calls) {
    const course = await courseOf(deps, run, open, call);
    if (course.do === 'run') {
      const outcome = await callTool(deps, run, { call, ...course });
      if (outcome === 'void') return finishCalls(deps, run);
      if (outcome === 'delegated') delegated.push(call);
    } else if (course.do === 'tell') await tell(deps, run, call, course);
    else if (course.do === 'ask') questions.push(course.question);
    else if (course.do === 'await') delegated.push(call);
    else waiting++;
  }
  const rests =
    questions.length + waiting > 0
      ? await waitForOwner(deps, run, { questions, waiting })
      : delegated.length === 0 || (await waitForAgents(deps, run, delegated));
  // An answer that came in between has changed what is to be done: look again.
  if (!rests) await finishCalls(deps, run);
};

const inCircles = ({ calls, repetitions }: OpenCalls): CapReached => {
  const names = [...new Set(calls.map(({ name }) => name))].join(', ');
  return new CapReached(
    `it went round in circles: ${names} was asked for ${repetitions} times in a row with the same arguments`,
  );
};

interface Begun {
  call: ToolCall;
  tool: Tool | null;
  approval?: ApprovalRow;
}

/**
 * That a call begins is committed before it does; its result is kept even if a pause came first.
 * `delegated`: a sub-agent will bring the result. `void`: what approved it does not hold any more.
 */
const callTool = async (
  deps: LoopDeps,
  { agent, signal, activeMs }: Run,
  { call, tool, approval }: Begun,
): Promise<'done' | 'delegated' | 'void'> => {
  const begins = createRecord(deps, agent)
    .only(['running'], { active_ms: activeMs() })
    .add(...(approval ? [spend(deps, approval)] : []))
    .event('agent.tool_call', {
      phase: 'call',
      callId: call.id,
      tool: call.name,
      arguments: excerptOf(call.arguments),
    });
  if (!(await began(begins))) return 'void';
  const since = deps.clock.now();
  const result = await runTool(tool, call, {
    userId: agent.user_id,
    agentId: agent.id,
    executionId: agent.execution_id,
    folder: await deps.folderOf(agent),
    signal,
    effectId: effectOf(agent.id, call.id),
    hops: agent.hops,
    ...(approval && { isApproved: true }),
  });
  if (result === null) return 'delegated';
  const ms = Math.max(0, deps.clock.now() - since);
  const isOutside = tool?.outside === true;
  const record = createRecord(deps, agent).add(...(isOutside ? taint(deps.store, agent) : []));
  await addResult(record, call, { ...result, ms, isOutside }).commit();
  return 'done';
};

/** False where something else than the agent's own state forbids it. */
const began = async (record: AgentRecord): Promise<boolean> => {
  try {
    await record.commit();
    return true;
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    if (error.at === 0) throw new Gone();
    return false;
  }
};

/** An approval serves once, in the transaction in which the call begins. */
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

/** The model is told why a call was not run, or what its sub-agent came to. */
const tell = (
  deps: LoopDeps,
  { agent }: Run,
  call: ToolCall,
  { ok, content }: ToolResult,
): Promise<void> => {
  const result = { ok, content: excerpt(content, LONGEST_RESULT), ms: 0, isOutside: false };
  return addResult(createRecord(deps, agent), call, result).commit();
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
