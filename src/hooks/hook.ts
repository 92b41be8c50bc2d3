import type { ExpressionBuilder } from 'kysely';
import type { AgentLimits, DayCaps } from '../agents/module.js';
import type { Condition } from '../kernel/contract/condition.js';
import type { HookRow } from '../store/tables/hooks.js';
import type { Tables } from '../store/tables.js';
import type { Hook, NewHook } from './contract.js';

export type TriggerConfig = NonNullable<NewHook['triggerConfig']>;
export type ActionConfig = NewHook['actionConfig'];

export interface OpenedHook
  extends Pick<Hook, 'id' | 'name' | 'trigger' | 'action' | 'cooldownMs' | 'maxExecutions'> {
  userId: string;
  updatedAt: string;
  triggerConfig: TriggerConfig;
  actionConfig: ActionConfig;
  conditions: Condition[];
  limits: Partial<AgentLimits>;
}

export const parseHookRow = (row: HookRow): OpenedHook => ({
  id: row.id,
  userId: row.user_id,
  updatedAt: row.updated_at,
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

const opened = new WeakMap<HookRow, OpenedHook>();

export const openedHook = (row: HookRow): OpenedHook => {
  const known = opened.get(row) ?? parseHookRow(row);
  opened.set(row, known);
  return known;
};

/** Daily limits apply to all agents together and are checked at every step. */
const agentLimitsIn = (limits: string | null): Partial<AgentLimits> => {
  const given: Partial<AgentLimits & DayCaps> = JSON.parse(limits ?? '{}');
  const { dailyCostUsd, dailyTokens, dailySteps, ...ofAgent } = given;
  return ofAgent;
};

/** Time since when the owner is disabled. Hooks of a disabled owner do not run. */
export const suspendedAt = (of: ExpressionBuilder<Tables, 'hooks'>) =>
  of
    .selectFrom('users')
    .select('disabled_at')
    .whereRef('users.id', '=', 'hooks.user_id')
    .as('suspended_at');
