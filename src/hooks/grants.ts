import { canonical } from '../kernel/canonicaljson.js';
import type { GrantRule } from '../permissions/grants.js';
import type { Condition } from './conditions.js';
import type { ActionConfig } from './hook.js';

/** The part of a hook's action that grants tools. */
export interface GrantingAction {
  action: string;
  actionConfig: Pick<ActionConfig, PurposeField | 'agentTools'>;
}

/** The part of a hook that decides which tools are used, when and for what. */
export interface GrantingHook extends GrantingAction {
  conditions: Pick<Condition, 'field' | 'operator' | 'value'>[];
  /** The trigger and the secret of the hook, as a value to compare. */
  firedBy: unknown;
}

const PURPOSE = {
  spawn_agent: ['agentPrompt', 'agentTopic', 'agentModel', 'orchestrated'],
  execute_tool: ['toolId', 'toolAction', 'toolParams'],
} as const;
type PurposeField = (typeof PURPOSE)[keyof typeof PURPOSE][number];

/**
 * Returns the tools with effects that a hook grants after a change and did not grant before it
 * (null: there was no hook). Ours: a grant applies to what the hook does with its tools and to what
 * fires it. If one of these changes, or a condition is removed, all its tools are granted anew.
 */
export const grantedAnew = (
  acting: GrantRule['acting'],
  before: GrantingHook | null,
  after: GrantingHook,
): string[] => {
  const granted = acting(hookTools(after));
  if (!before || purposeOf(before) !== purposeOf(after) || isLooser(before, after)) return granted;
  const known = hookTools(before);
  const kept = new Set([...known, ...acting(known)]);
  return granted.filter((name) => !kept.has(name));
};

/** Returns the names of the tools that a hook's executions may use without approval. */
export const hookTools = ({ action, actionConfig }: GrantingAction): string[] => {
  if (action === 'spawn_agent') return actionConfig.agentTools ?? [];
  if (action !== 'execute_tool') return [];
  const { toolId = '', toolAction = '' } = actionConfig;
  return [`${toolId}.${toolAction}`];
};

const purposeOf = ({ action, actionConfig, firedBy }: GrantingHook): string => {
  const fields = action === 'spawn_agent' || action === 'execute_tool' ? PURPOSE[action] : [];
  return canonical([action, fields.map((field) => actionConfig[field] ?? null), firedBy]);
};

/** True if a condition of the old hook is no longer in the new one. */
const isLooser = (before: GrantingHook, after: GrantingHook): boolean => {
  const held = new Set(after.conditions.map(canonical));
  return before.conditions.some((condition) => !held.has(canonical(condition)));
};
