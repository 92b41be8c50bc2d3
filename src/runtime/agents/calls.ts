import type { ToolCall } from '../../providers/llm/model.js';
import { excerpt, excerptOf } from './excerpt.js';
import { type AgentRecord, createRecord } from './record.js';
import { commitWhileRunning, type LoopDeps, type Run } from './run.js';
import { runTool, type ToolResult } from './toolcall.js';
import type { Toolset } from './toolset.js';
import { INTERRUPTED, openCalls } from './turns.js';

const OVERRIDDEN = 'Not run: a message came in first.';

/**
 * Calls that were asked for before a pause or a restart: told as interrupted if they had begun; run
 * if they had not, unless somebody has said something since.
 */
export const finishCalls = async (deps: LoopDeps, run: Run): Promise<void> => {
  const { agent } = run;
  const { calls, isOverridden } = openCalls(await deps.rows.messages(agent.session_id), agent.id);
  if (calls.length === 0) return;
  const begun = await deps.rows.begunCalls(agent.id);
  const tools = await deps.toolsOf(agent);
  for (const call of calls) {
    const content = begun.has(call.id) ? INTERRUPTED : OVERRIDDEN;
    if (!begun.has(call.id) && !isOverridden) await callTool(deps, run, tools, call);
    else await addResult(createRecord(deps, agent), call, { ok: false, content, ms: 0 }).commit();
  }
};

/** That a call begins is committed before it does; its result is kept even if a pause came first. */
export const callTool = async (
  deps: LoopDeps,
  { agent, signal, activeMs }: Run,
  tools: Toolset,
  call: ToolCall,
): Promise<void> => {
  const begins = createRecord(deps, agent)
    .only(['running'], { active_ms: activeMs() })
    .event('agent.tool_call', {
      phase: 'call',
      callId: call.id,
      tool: call.name,
      arguments: excerptOf(call.arguments),
    });
  await commitWhileRunning(begins);
  const since = deps.clock.now();
  const result = await runTool(tools.find(call), call, {
    userId: agent.user_id,
    agentId: agent.id,
    executionId: agent.execution_id,
    folder: await deps.folderOf(agent),
    signal,
    effectId: `${agent.id}_${call.id}`,
  });
  const ms = Math.max(0, deps.clock.now() - since);
  await addResult(createRecord(deps, agent), call, { ...result, ms }).commit();
};

const addResult = (
  record: AgentRecord,
  call: ToolCall,
  { ok, content, ms }: ToolResult & { ms: number },
): AgentRecord =>
  record.message({ role: 'tool', content, toolCallId: call.id }).event('agent.tool_call', {
    phase: 'result',
    callId: call.id,
    tool: call.name,
    ok,
    result: excerpt(content, 2000),
    ms,
  });
