import { excerpt } from '../kernel/excerpt.js';
import { mint } from '../kernel/ids.js';
import type { ReplyReasoning, StepReply, ToolCall } from '../providers/llm/model.js';
import type { Statement } from '../store/engine/protocol.js';
import { isCommitted } from '../store/store.js';
import type { TranscriptMessageRow } from '../store/tables/agents.js';
import { findModelConstraints } from './admission.js';
import type { AgentLimits } from './agent.js';
import { openBudget, settleReserved } from './budget.js';
import { runCalls } from './calls.js';
import { buildConversation } from './context.js';
import { NEW_CALL_STATE } from './decision.js';
import { endAgent } from './end.js';
import type { ModelReply } from './models.js';
import { hasReport, withSubAgentReport } from './orchestrate.js';
import { type AgentRecord, createRecord } from './record.js';
import { countRepetitions } from './repeats.js';
import { type AgentRun, commitWithCost, type LoopDeps, type LoopOutcome } from './run.js';
import type { StepFacts } from './snapshot.js';
import { storeReplyTrust } from './taint.js';
import type { DroppedContext } from './trim.js';
import { parseToolCalls } from './turns.js';

export const runStep = async (
  deps: LoopDeps,
  run: AgentRun,
  facts: StepFacts,
): Promise<LoopOutcome> => {
  const { agent, signal } = run;
  const { messages: rows, permissions } = facts;
  const wanted = await findModelConstraints(deps, run, facts);
  if (typeof wanted === 'string') return wanted;
  const tools = await deps.access.toolsOf(agent, permissions);
  const memories = facts.hasMemories
    ? await deps.access.recall(agent.user_id, lastUserMessage(rows))
    : [];
  const { turns, dropped } = buildConversation(deps.access.models, agent, {
    rows,
    memories,
    wanted,
    tools: tools.specs,
    now: deps.clock.now(),
    timezone: facts.timezone,
  });
  const beginDeltas = (step: number) => deps.live.deltas.begin(agent, step);
  const { maxAnswerTokens: maxOutputTokens }: AgentLimits = JSON.parse(agent.limits);
  const isDigestEnough = await hasReport(deps, agent);
  const stepRequest = {
    turns,
    tools: tools.specs,
    maxOutputTokens,
    signal,
    beginDeltas,
    isDigestEnough,
  };
  const given = await deps.access.models.ask(wanted, stepRequest, openBudget(deps, run));
  if (given === 'gone') return given;
  const modelReply = await withSubAgentReport(deps, run, given);
  const bounded = boundedReply(modelReply.reply, rows, deps.clock.now());
  const messageId = mint('message', deps.clock.now());
  const taken = { run, modelReply, bounded, messageId, dropped, seen: rows.at(-1)?.seq ?? 0 };
  const outcome = await recordReply(deps, taken);
  if (outcome !== 'again') return outcome;
  const calls = bounded.toolCalls;
  const repetitions = countRepetitions(rows, agent.id, calls);
  return runCalls(deps, run, { calls, tools, ...NEW_CALL_STATE, repetitions });
};

/** Last message of the owner or the parent. */
const lastUserMessage = (rows: TranscriptMessageRow[]): string =>
  rows.findLast(({ role }) => role === 'user')?.content ?? '';

interface CompletedStep {
  run: AgentRun;
  modelReply: ModelReply;
  bounded: BoundedReply;
  messageId: string;
  dropped: DroppedContext | null;
  /** Sequence number of the newest message in the prompt. */
  seen: number;
}

/** The cost counts even if the agent was paused or deleted. */
const recordReply = async (deps: LoopDeps, taken: CompletedStep): Promise<LoopOutcome> => {
  const { run, modelReply, bounded } = taken;
  const { reserved, reply, latencyMs } = modelReply;
  const settled = settleReserved(deps, reserved, { usage: reply.usage, latencyMs });
  if (bounded.toolCalls.length === 0 && (await finish(deps, taken, settled))) return 'finished';
  return commitWithCost(deps, addReply(deps, createRecord(deps, run.agent), taken), settled);
};

/** Returns false if a new message arrived before. */
const finish = async (
  deps: LoopDeps,
  taken: CompletedStep,
  settled: Statement[],
): Promise<boolean> => {
  const { run, modelReply, bounded, seen } = taken;
  const unchanged = {
    sql: 'SELECT 1 FROM sessions WHERE id = ? AND message_count = ?',
    parameters: [run.agent.session_id, seen],
    expect: 1,
  };
  const result = shownText(bounded);
  const note = readerNote(modelReply.reply);
  const outcome = { status: 'completed' as const, result, ...(note !== null && { note }) };
  return isCommitted(
    endAgent(deps, run.agent, outcome, (record) =>
      addReply(deps, record.add(unchanged), taken).add(...settled),
    ),
  );
};

const addReply = (
  deps: LoopDeps,
  record: AgentRecord,
  { run, modelReply, bounded, messageId, dropped: trimmed, seen }: CompletedStep,
): AgentRecord => {
  const { model, passedOver, reply, reserved } = modelReply;
  const { text, toolCalls, dropped } = bounded;
  const note = readerNote(reply);
  if (toolCalls.length > 0) record.add(storeReplyTrust(deps.store, run.agent.id));
  record.only(['running'], { active_ms: run.activeMs() }).message({
    id: messageId,
    role: 'assistant',
    content: text,
    ...(toolCalls.length > 0 && { toolCalls }),
    generation: { seen, ...(bounded.reasoning && { reasoning: bounded.reasoning }) },
  });
  if (note !== null) record.message({ role: 'system', content: note });
  return record.event('agent.message', {
    role: 'assistant',
    content: excerpt(toolCalls.length > 0 ? text : shownText(bounded)),
    messageId,
    step: reserved.step,
    model,
    ...(passedOver.length > 0 && { passedOver }),
    ...(note !== null && { cut: true, note }),
    ...(dropped > 0 && { droppedCalls: dropped }),
    ...(trimmed && { leftOut: trimmed }),
  });
};

const shownText = ({ text }: BoundedReply): string =>
  text.trim() === '' ? 'The model returned an empty reply.' : text;

/** Stored as a separate message, so that the text of the model stays unchanged. */
const readerNote = ({ finish }: StepReply): string | null =>
  finish === 'length' ? "The reply was cut off at the model's output limit." : null;

const MAX_TEXT_LENGTH = 262_144;
const MAX_ARGUMENTS_LENGTH = 2_097_152;
const MAX_CALLS = 32;
const DEEPEST = 64;

interface BoundedReply {
  text: string;
  toolCalls: ToolCall[];
  /** Number of dropped calls: too many, too long or nested too deeply. */
  dropped: number;
  /** Keyed by the new IDs of the calls. */
  reasoning: ReplyReasoning | undefined;
}

/**
 * A model may use one ID twice, or names that providers reject. IDs become unique in the session.
 */
const boundedReply = (
  reply: StepReply,
  rows: TranscriptMessageRow[],
  now: number,
): BoundedReply => {
  const used = new Set(rows.flatMap(parseToolCalls).map(({ id }) => id));
  const given = reply.toolCalls.filter(isBounded).slice(0, MAX_CALLS);
  const toolCalls = given.map((call) => ({
    id: unusedId(call.id, used, now),
    name: call.name.replace(/[^\w-]/g, '_').slice(0, 64) || 'unnamed',
    arguments: call.arguments,
    ...(call.fault !== undefined && { fault: call.fault }),
  }));
  const signed = toolCalls.flatMap(({ id }, at) => {
    const signature = given[at]?.signature;
    return signature === undefined ? [] : [[id, signature] as const];
  });
  return {
    text: excerpt(reply.text, MAX_TEXT_LENGTH),
    toolCalls,
    dropped: reply.toolCalls.length - toolCalls.length,
    reasoning: reply.reasoning && {
      ...reply.reasoning,
      ...(signed.length > 0 && { signatures: Object.fromEntries(signed) }),
    },
  };
};

const isBounded = ({ arguments: args }: ToolCall): boolean =>
  isShallow(args) && JSON.stringify(args).length <= MAX_ARGUMENTS_LENGTH;

/** Deeper values cannot be serialized again. */
const isShallow = (value: unknown, deepest = DEEPEST): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (deepest > 0 && Object.values(value).every((member) => isShallow(member, deepest - 1)));

/** Nine letters and digits is the strictest format, that of Mistral. */
const unusedId = (given: string, used: Set<string>, now: number): string => {
  const isGood = /^[\w-]{1,64}$/.test(given) && !used.has(given);
  const id = isGood ? given : mint('call', now).slice(-9);
  used.add(id);
  return id;
};
