import { z } from 'zod';
import { type AgentLimits, JOB, type Models, spawnRecord } from '../../agents/module.js';
import { type Experts, modelAndPersona } from '../../experts/module.js';
import { addJob, type Queue } from '../../jobs/module.js';
import type { Clock } from '../../kernel/clock.js';
import { parseExact } from '../../kernel/exactjson.js';
import { digest } from '../../providers/llm/digest.js';
import type { Hub } from '../../realtime/module.js';
import type { Store } from '../../store/store.js';
import type { AgentRow } from '../../store/tables/agents.js';
import { type BeginStage, BUDGET_WAIT_REASON, waitForBudget } from './begin.js';
import type { Budget } from './budget.js';
import { StageError } from './outcome.js';
import { renderProse } from './render.js';
import type { RunStage } from './run.js';

export interface AgentStageDeps {
  store: Store;
  clock: Clock;
  hub: Hub;
  models: Models;
  experts: Experts;
  queue: Queue;
  budget: Budget;
}

/** Maximum usage of an agent, unless its stage or the rest of the run allows less. */
const DEFAULTS = { maxTokens: 500_000, maxCostUsd: 1 };

/** Inserts the agent in the transaction that starts the stage. */
export const createAgentBeginning =
  (deps: AgentStageDeps): BeginStage =>
  async ({ run, stage, row }, scope) => {
    const { user_id: userId } = run.row;
    const { prompt, topic, model, expertId, tools, limits } = agentConfig(stage.config);
    const expert = expertId === undefined ? undefined : await deps.experts.find(userId, expertId);
    if (expertId !== undefined && !expert)
      throw new StageError(`Unknown expert: ${expertId}. Correct expertId in the template`);
    if (model !== undefined && !deps.models.has(userId, model)) {
      throw new StageError(`Unknown model: ${model}. Correct the model in the template`);
    }
    const wanted = { ...DEFAULTS, ...limits };
    const reserved = await deps.budget.reserve(run, wanted);
    if (!reserved) return waitForBudget(deps.clock.now());
    const text = `${renderProse(prompt, scope)}${askForJson(stage.output)}`;
    const { id, record } = spawnRecord(deps, {
      userId,
      memberId: run.row.member_id ?? undefined,
      prompt: text,
      ...modelAndPersona(deps.models, {
        ...{ userId, model, topic },
        expert: expert ?? undefined,
      }),
      name: `${run.row.name.slice(0, 60)}-${row.key}-${run.row.id.slice(-6)}`,
      channel: 'api',
      untrusted: row.untrusted === 1,
      hops: run.row.hops,
      ...(tools && { tools }),
      limits: { ...limits, ...reserved },
      lane: userId,
    });
    record.add(addJob({ kind: JOB, ref: id, lane: userId, runAt: record.at }));
    return {
      change: {
        status: 'running',
        agent_id: id,
        input: JSON.stringify({ prompt: text }),
        ...(row.reason === BUDGET_WAIT_REASON && { reason: null }),
        reserved_tokens: reserved.maxTokens,
        reserved_usd: reserved.maxCostUsd,
      },
      steps: record.recorded.statements,
      begun: () => deps.queue.added(userId),
    };
  };

interface AgentStageConfig {
  prompt: string;
  topic?: string;
  model?: string;
  expertId?: string;
  tools?: string[];
  limits?: Partial<AgentLimits>;
}

const agentConfig = (config: Record<string, unknown>): AgentStageConfig => ({
  prompt: '',
  ...config,
});

const askForJson = (schema: Record<string, unknown> | undefined): string =>
  schema === undefined
    ? ''
    : `\n\nReply with JSON only. It must match this JSON Schema:\n${JSON.stringify(schema)}`;

/** `again` is the message to an agent whose output does not match the schema. */
export type AgentStageOutcome =
  | { is: 'completed'; output: unknown }
  | { is: 'failed'; error: string }
  | { is: 'again'; message: string };

/** Prefix of the reason after a repeated request. */
export const JSON_RETRY_PREFIX = 'Asked again: ';

export const agentOutcome = ({ stage, row }: RunStage, agent: AgentRow): AgentStageOutcome => {
  if (agent.status === 'stopped') return { is: 'failed', error: 'The agent was stopped' };
  if (agent.status !== 'completed')
    return { is: 'failed', error: agent.error ?? 'The agent failed' };
  const result = agent.result ?? '';
  if (stage.output === undefined) return { is: 'completed', output: result };
  const { output, fault } = fitting(result, stage.output);
  if (fault === null) return { is: 'completed', output };
  if (agent.model === digest.name) return { is: 'failed', error: `${NO_MODEL}: ${fault}` };
  if (row.reason?.startsWith(JSON_RETRY_PREFIX)) {
    return { is: 'failed', error: `The output does not match the schema: ${fault}` };
  }
  const message = `Your reply does not match the JSON Schema: ${fault}. Reply with JSON only.`;
  return { is: 'again', message };
};

const NO_MODEL =
  'No language model is available (adjutant help models), and the output of the built-in digest does not match the schema';

/** Parses JSON, also within a code block, and validates it. Numbers keep their digits. */
const fitting = (
  reply: string,
  schema: Record<string, unknown>,
): { output: unknown; fault: string | null } => {
  const [, within = reply] = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(reply) ?? [];
  try {
    const { success, error } = z.fromJSONSchema(schema).safeParse(JSON.parse(within));
    const [first] = error?.issues ?? [];
    const at = first && first.path.length > 0 ? `${first.path.join('.')}: ` : '';
    return {
      output: parseExact(within),
      fault: success ? null : `${at}${first?.message ?? 'another form'}`,
    };
  } catch {
    return { output: null, fault: 'it is not JSON' };
  }
};
