import { iso } from '../kernel/clock.js';
import { excerpt } from '../kernel/excerpt.js';
import type { Statement } from '../store/engine/protocol.js';
import { statement, unlessUnmet } from '../store/store.js';
import { wantedBy } from './admission.js';
import type { AgentLimits } from './agent.js';
import { answerOf, type ModelAnswer } from './answer.js';
import { openBudget, settleReserved } from './budget.js';
import { runCalls } from './calls.js';
import { conversationOf } from './context.js';
import { UNTOUCHED } from './decision.js';
import { endAgent } from './end.js';
import type { ModelReply } from './models.js';
import { type OrchestrateDeps, reported } from './orchestrate.js';
import { type AgentRecord, createRecord } from './record.js';
import { repetitionsOf } from './repeats.js';
import { AgentGone, type AgentRun, commitWhileRunning, type LoopDeps } from './run.js';
import type { DroppedContext } from './trim.js';

/** Asks a model once and acts on its reply. Returns true when the agent is finished. */
export const takeStep = async (deps: OrchestrateDeps, run: AgentRun): Promise<boolean> => {
  const { agent, signal } = run;
  const wanted = await wantedBy(deps, run);
  const [rows, tools] = await Promise.all([
    deps.rows.messages(agent.session_id),
    deps.toolsOf(agent),
  ]);
  const { turns, dropped } = conversationOf(deps.models, agent, {
    rows,
    wanted,
    tools: tools.specs,
  });
  const onText = deps.deltas.of(agent.id);
  const { maxAnswerTokens: maxOutputTokens }: AgentLimits = JSON.parse(agent.limits);
  const asked = {
    ...{ turns, tools: tools.specs, maxOutputTokens, signal },
    ...(onText && { onText }),
  };
  const came = await deps.models.answer(wanted, asked, openBudget(deps, run));
  const answered = await reported(deps, run, came);
  const answer = answerOf(answered.reply, rows, deps.clock.now());
  const taken = { run, answered, answer, dropped, seen: rows.at(-1)?.seq ?? 0 };
  const isFinished = await recordAnswer(deps, taken);
  if (isFinished) return true;
  const calls = answer.toolCalls;
  const repetitions = repetitionsOf(rows, agent.id, calls);
  await runCalls(deps, run, { calls, tools, ...UNTOUCHED, repetitions });
  return false;
};

interface CompletedStep {
  run: AgentRun;
  answered: ModelReply;
  answer: ModelAnswer;
  dropped: DroppedContext | null;
  /** The number of the newest message that the model was given. */
  seen: number;
}

/** Stores the reply. Its cost is counted even if the agent was paused or removed meanwhile. */
const recordAnswer = async (deps: LoopDeps, taken: CompletedStep): Promise<boolean> => {
  const { run, answered, answer } = taken;
  const { reserved, reply, latencyMs } = answered;
  const settled = settleReserved(deps, reserved, { usage: reply.usage, latencyMs });
  try {
    if (answer.toolCalls.length === 0 && (await finish(deps, taken, settled))) return true;
    const record = createRecord(deps, run.agent);
    await commitWhileRunning(addAnswer(record, taken).add(...settled));
    return false;
  } catch (error) {
    if (error instanceof AgentGone) await deps.store.transact(settled);
    throw error;
  }
};

/**
 * Commits the last reply and the end of the agent in one transaction; returns false if a message
 * came in before it.
 */
const finish = async (
  deps: LoopDeps,
  taken: CompletedStep,
  settled: Statement[],
): Promise<boolean> => {
  const { run, answer, seen } = taken;
  const unchanged = deps.store.db
    .updateTable('sessions')
    .set({ updated_at: iso(deps.clock.now()) })
    .where('id', '=', run.agent.session_id)
    .where('message_count', '=', seen);
  const result = answer.text.trim() === '' ? 'The model gave an empty answer.' : answer.text;
  return unlessUnmet(
    endAgent(deps, run.agent, { status: 'completed', result }, (record) =>
      addAnswer(record.add(statement(unchanged, 1)), taken).add(...settled),
    ),
  );
};

/** Adds the reply, the model that gave it, and the reasons why the models before it did not. */
const addAnswer = (
  record: AgentRecord,
  { run, answered, answer, dropped: trimmed }: CompletedStep,
): AgentRecord => {
  const { model, passedOver, reply, reserved } = answered;
  const { text, toolCalls, dropped } = answer;
  return record
    .only(['running'], { active_ms: run.activeMs() })
    .message({ role: 'assistant', content: text, ...(toolCalls.length > 0 && { toolCalls }) })
    .event('agent.message', {
      role: 'assistant',
      content: excerpt(text),
      step: reserved.step,
      model,
      ...(passedOver.length > 0 && { passedOver }),
      ...(reply.finish === 'length' && { cut: true }),
      ...(dropped > 0 && { droppedCalls: dropped }),
      ...(trimmed && { leftOut: trimmed }),
    });
};
