import type { ExpressionBuilder } from 'kysely';
import type { AgentLimits } from '../agents/agent.js';
import type { DayCaps } from '../agents/procedures/spending.js';
import type { HookRow } from '../store/tables/hooks.js';
import type { Tables } from '../store/tables.js';
import type { Condition } from './conditions.js';

export interface TriggerConfig {
  webhookPath?: string;
  cron?: string;
  timezone?: string;
}

export interface ActionConfig {
  agentPrompt?: string;
  agentTopic?: string;
  agentModel?: string;
  agentTools?: string[];
  orchestrated?: boolean;
  notifyOwner?: boolean;
  notifyMessage?: string;
  notifyChannels?: string[];
  webhookUrl?: string;
  webhookMethod?: string;
  webhookHeaders?: Record<string, string>;
  webhookBody?: string;
  toolId?: string;
  toolAction?: string;
  toolParams?: Record<string, unknown>;
  /** The credential of a forward. */
  credentialId?: string;
}

/** A hook as its executions read it: the row with its JSON parsed. */
export interface OpenedHook {
  id: string;
  userId: string;
  name: string;
  trigger: HookRow['trigger'];
  triggerConfig: TriggerConfig;
  action: HookRow['action'];
  actionConfig: ActionConfig;
  conditions: Condition[];
  cooldownMs: number;
  maxExecutions: number | null;
  limits: Partial<AgentLimits>;
}

export const hookOf = (row: HookRow): OpenedHook => ({
  id: row.id,
  userId: row.user_id,
  name: row.name,
  trigger: row.trigger,
  triggerConfig: JSON.parse(row.trigger_config),
  action: row.action,
  actionConfig: JSON.parse(row.action_config),
  conditions: JSON.parse(row.conditions),
  cooldownMs: row.cooldown_ms,
  maxExecutions: row.max_executions,
  limits: agentLimitsIn(row.limits),
});

/**
 * Returns the limits of each agent. The daily limits of all agents together are checked at every
 * step.
 */
const agentLimitsIn = (limits: string | null): Partial<AgentLimits> => {
  const given: Partial<AgentLimits & DayCaps> = JSON.parse(limits ?? '{}');
  const { dailyCostUsd, dailyTokens, dailySteps, ...ofAgent } = given;
  return ofAgent;
};

/**
 * Selects since when the account of a hook's owner is disabled. Nothing of a disabled owner runs.
 */
export const suspendedAt = (of: ExpressionBuilder<Tables, 'hooks'>) =>
  of
    .selectFrom('users')
    .select('disabled_at')
    .whereRef('users.id', '=', 'hooks.user_id')
    .as('suspended_at');

export const hookColumnNames = [
  'id',
  'user_id',
  'name',
  'description',
  'trigger',
  'trigger_config',
  'action',
  'action_config',
  'webhook_path',
  'secret_sealed',
  'old_secret_sealed',
  'old_secret_until',
  'old_secret_last_used_at',
  'credential_id',
  'enabled',
  'conditions',
  'concurrency',
  'cooldown_ms',
  'max_executions',
  'limits',
  'executions',
  'runs',
  'last_run_at',
  'next_run_at',
  'created_at',
  'updated_at',
] as const;
