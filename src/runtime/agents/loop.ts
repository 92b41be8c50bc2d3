import { iso } from '../../kernel/clock.js';
import type { Log } from '../../kernel/log.js';
import type { ToolCall } from '../../providers/llm/model.js';
import { ModelFailure } from '../../providers/llm/model.js';
import { Unmet } from '../../store/protocol.js';
import { statement } from '../../store/store.js';
import type { AgentRow } from '../../store/tables.js';
import { addDailyUsage } from '../../store/transcript.js';
import type { Job, JobHandler } from '../jobs/queue.js';
import { removeJobsOf } from '../jobs/statements.js';
import type { AgentLimits } from './agent.js';
import type { Work } from './control.js';
import { type EndingDeps, endAgent } from './ending.js';
import { unanswered } from './interrupted.js';
import type { Answered, Models } from './models.js';
import { type AgentRecord, createRecord } from './record.js';
import type { AgentRows } from './rows.js';
import { SYSTEM_PROMPT } from './system.js';
import { runTool } from './toolcall.js';
import type { Toolset } from './toolset.js';

export interface LoopDeps extends EndingDeps {
  rows: AgentRows;
  models: Models;
  running: Map<string, Work>;
  toolsOf(agent: AgentRow): Promise<Toolset>;
  folderOf(agent: AgentRow): Promise<string>;
  dailyCostUsd: number;
  log: Log;
}

/** The agent was paused, stopped or removed meanwhile: whoever did it has written that down. */
class Gone extends Error {}
/** The agent may not go on; the message is its error. */
class CapReached extends Error {}

/**
 * The durable loop: each model step and each tool result is committed before the next begins, so
 * that a restart resumes at the last one. A step is reserved before it is asked for.
 */
export const createLoop = (deps: LoopDeps): JobHandler => {
  const { store } = deps;

  const work = async (agent: AgentRow, signal: AbortSignal): Promise<void> => {
    await begin(deps, agent);
    const tools = await deps.toolsOf(agent);
    const run = { agent, tools, signal, activeMs: agent.active_ms, beganAt: deps.clock.now() };
    await finishCalls(deps, run);
    while (!(await step(deps, run)));
  };

  const attempt = async (agent: AgentRow, stop: AbortController, shutdown: AbortSignal) => {
    const limits: AgentLimits = JSON.parse(agent.limits);
    const timeLimit = AbortSignal.timeout(Math.max(1, limits.maxSeconds * 1000 - agent.active_ms));
    const signal = AbortSignal.any([stop.signal, shutdown, timeLimit]);
    try {
      await work(agent, signal);
    } catch (error) {
      if (error instanceof Gone || stop.signal.aborted) return;
      if (shutdown.aborted) throw error;
      const reason = timeLimit.aborted
        ? `time limit of ${limits.maxSeconds} s reached`
        : sayWhy(error);
      if (reason === null) throw error;
      await endAgent(deps, agent, { status: 'failed', error: reason });
    }
  };

  return {
    run: async ({ ref }: Job, shutdown) => {
      await deps.running.get(ref)?.ended;
      const agent = await deps.rows.byId(ref);
      if (!agent || (agent.status !== 'queued' && agent.status !== 'running')) {
        await store.transact([removeJobsOf(store, ref)]);
        return null;
      }
      const stop = new AbortController();
      const ended = attempt(agent, stop, shutdown);
      const settled = ended.then(
        () => undefined,
        () => undefined,
      );
      deps.running.set(ref, { abort: () => stop.abort(), ended: settled });
      await ended.finally(() => deps.running.delete(ref));
      return null;
    },
    abandon: async ({ ref }, error) => {
      const agent = await deps.rows.byId(ref);
      if (agent) await endAgent(deps, agent, { status: 'failed', error: error.message });
      else await store.transact([removeJobsOf(store, ref)]);
    },
  };
};

interface Run {
  agent: AgentRow;
  tools: Toolset;
  signal: AbortSignal;
  /** Milliseconds that the agent had worked before this run, which began at `beganAt`. */
  activeMs: number;
  beganAt: number;
}

const sayWhy = (error: unknown): string | null =>
  error instanceof CapReached || error instanceof ModelFailure ? error.message : null;

const begin = async (deps: LoopDeps, agent: AgentRow): Promise<void> => {
  const record = createRecord(deps, agent);
  if (agent.status === 'queued') {
    record.move(['queued'], 'running', { started_at: agent.started_at ?? record.at });
  } else {
    record.event('agent.status', { status: 'running', resumed: true });
  }
  await commit(record);
};

/** One question to a model and what follows from its answer. True when the agent is finished. */
const step = async (deps: LoopDeps, run: Run): Promise<boolean> => {
  const agent = await reserve(deps, run.agent);
  const { turns, count } = await deps.rows.turns(agent.session_id);
  const answered = await deps.models.answer(agent.model, {
    turns: [{ role: 'system', content: SYSTEM_PROMPT }, ...turns],
    tools: run.tools.specs,
    signal: run.signal,
  });
  const { toolCalls } = answered.reply;
  if (toolCalls.length === 0) return finish(deps, { ...run, agent }, answered, count);
  await commit(addStep(deps, { ...run, agent }, answered));
  for (const call of toolCalls) await callTool(deps, run, call);
  return false;
};

/** Counts the step before it is asked for, in the statement that checks the cap. */
const reserve = async (deps: LoopDeps, { id, user_id }: AgentRow): Promise<AgentRow> => {
  const agent = await deps.rows.byId(id);
  if (agent?.status !== 'running') throw new Gone();
  const limits: AgentLimits = JSON.parse(agent.limits);
  if (agent.input_tokens + agent.output_tokens >= limits.maxTokens) {
    throw new CapReached(`limit of ${limits.maxTokens} tokens reached`);
  }
  if (agent.cost_usd >= limits.maxCostUsd) {
    throw new CapReached(`limit of ${limits.maxCostUsd} USD reached`);
  }
  const today = iso(deps.clock.now()).slice(0, 10);
  if ((await deps.rows.spentOn(user_id, today)) >= deps.dailyCostUsd) {
    throw new CapReached(`the limit of ${deps.dailyCostUsd} USD a day is reached`);
  }
  const counted = deps.store.db
    .updateTable('agents')
    .set((of) => ({ steps: of('steps', '+', 1) }))
    .where('id', '=', id)
    .where('status', '=', 'running')
    .where('steps', '<', limits.maxSteps);
  try {
    await deps.store.transact([statement(counted, 1)]);
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    if ((await deps.rows.byId(id))?.status !== 'running') throw new Gone();
    throw new CapReached(`limit of ${limits.maxSteps} steps reached`);
  }
  return { ...agent, steps: agent.steps + 1 };
};

/** The last answer and the end are one transaction, unless a message came in: then it goes on. */
const finish = async (
  deps: LoopDeps,
  run: Run,
  answered: Answered,
  seen: number,
): Promise<boolean> => {
  const { agent } = run;
  const unchanged = statement(
    deps.store.db
      .updateTable('sessions')
      .set({ updated_at: iso(deps.clock.now()) })
      .where('id', '=', agent.session_id)
      .where('message_count', '=', seen),
    1,
  );
  try {
    const outcome = { status: 'completed', result: answered.reply.text } as const;
    await endAgent(deps, agent, outcome, (record) =>
      addStep(deps, run, answered, record.add(unchanged)),
    );
    return true;
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    await commit(addStep(deps, run, answered));
    return false;
  }
};

/** The answer, what it cost, and which model gave it. */
const addStep = (
  deps: LoopDeps,
  { agent, activeMs, beganAt }: Run,
  answered: Answered,
  record = createRecord(deps, agent),
): AgentRecord => {
  const { reply, model, passedOver } = answered;
  const { inputTokens, outputTokens, costUsd } = reply.usage;
  const spent = deps.store.db
    .updateTable('agents')
    .set((of) => ({
      input_tokens: of('input_tokens', '+', inputTokens),
      output_tokens: of('output_tokens', '+', outputTokens),
      cost_usd: of('cost_usd', '+', costUsd ?? 0),
      active_ms: activeMs + deps.clock.now() - beganAt,
    }))
    .where('id', '=', agent.id)
    .where('status', '=', 'running');
  return record
    .add(
      statement(spent, 1),
      addDailyUsage({
        userId: agent.user_id,
        day: record.at.slice(0, 10),
        costUsd: costUsd ?? 0,
        tokens: inputTokens + outputTokens,
      }),
    )
    .message({
      role: 'assistant',
      content: reply.text,
      ...(reply.toolCalls.length > 0 && { toolCalls: reply.toolCalls }),
    })
    .event('agent.message', {
      role: 'assistant',
      content: reply.text,
      step: agent.steps,
      model,
      ...(passedOver.length > 0 && { passedOver }),
    });
};

/** Calls that were asked for before a restart: run if they never began, told as interrupted if they did. */
const finishCalls = async (deps: LoopDeps, run: Run): Promise<void> => {
  for (const { call, hasBegun } of await unanswered(deps, run.agent)) {
    if (!hasBegun) {
      await callTool(deps, run, call);
      continue;
    }
    const content =
      'Interrupted: the daemon stopped while this ran. Whether it took effect is unknown.';
    await commit(toolResult(deps, run.agent, call, { ok: false, content, ms: 0 }));
  }
};

const callTool = async (deps: LoopDeps, run: Run, call: ToolCall): Promise<void> => {
  const { agent, tools, signal } = run;
  if ((await deps.rows.byId(agent.id))?.status !== 'running') throw new Gone();
  const begun = createRecord(deps, agent).event('agent.tool_call', {
    phase: 'call',
    callId: call.id,
    tool: call.name,
    arguments: call.arguments,
  });
  await commit(begun);
  const since = deps.clock.now();
  const result = await runTool(tools.find(call), call, {
    userId: agent.user_id,
    agentId: agent.id,
    executionId: agent.execution_id,
    folder: await deps.folderOf(agent),
    signal,
    effectId: `${agent.id}_${call.id}`,
  });
  const ms = deps.clock.now() - since;
  await commit(toolResult(deps, agent, call, { ...result, ms }));
};

const toolResult = (
  deps: LoopDeps,
  agent: AgentRow,
  call: ToolCall,
  result: { ok: boolean; content: string; ms: number },
): AgentRecord =>
  createRecord(deps, agent)
    .message({ role: 'tool', content: result.content, toolCallId: call.id })
    .event('agent.tool_call', {
      phase: 'result',
      callId: call.id,
      tool: call.name,
      ok: result.ok,
      result: result.content.slice(0, 2000),
      ms: result.ms,
    });

const commit = async (record: AgentRecord): Promise<void> => {
  try {
    await record.commit();
  } catch (error) {
    if (error instanceof Unmet) throw new Gone();
    throw error;
  }
};
