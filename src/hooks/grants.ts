import type { Condition } from '../kernel/contract/condition.js';
import { canonical } from '../kernel/jsonvalue.js';
import type { GrantRule } from '../permissions/module.js';
import type { SecretOpener } from '../secrets/module.js';
import type { HookRow } from '../store/tables/hooks.js';
import { isOwnSecret } from './credential.js';
import type { ActionConfig, TriggerConfig } from './hook.js';

/** The part of a hook's action that grants tools. */
export interface GrantingAction {
  action: string;
  actionConfig: Pick<ActionConfig, PurposeField | 'agentTools'>;
}

/** The part of a hook that decides which tools are used, when and for what. */
export interface GrantingHook extends GrantingAction {
  conditions: Condition[];
  /** The trigger and the secret of the hook, as a value to compare. */
  firedBy: unknown;
}

const PURPOSE = {
  spawn_agent: ['agentPrompt', 'agentTopic', 'agentModel', 'orchestrated'],
  execute_tool: ['toolId', 'toolAction', 'toolParams'],
  start_pipeline: ['templateId', 'params'],
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
  if (!before || isAnother(before, after)) return granted;
  const known = hookTools(before);
  const kept = new Set([...known, ...acting(known)]);
  return granted.filter((name) => !kept.has(name));
};

/** Stands for what the stages of a pipeline may do, among the names of tools. */
const PIPELINES = 'pipelines.start';

/** Returns the names of the tools that a hook's executions may use without approval. */
export const hookTools = ({ action, actionConfig }: GrantingAction): string[] => {
  if (action === 'spawn_agent') return actionConfig.agentTools ?? [];
  if (action === 'start_pipeline') return [PIPELINES];
  if (action !== 'execute_tool') return [];
  const { toolId = '', toolAction = '' } = actionConfig;
  return [`${toolId}.${toolAction}`];
};

const isGranting = (action: string): action is keyof typeof PURPOSE => action in PURPOSE;

const purposeOf = ({ action, actionConfig, firedBy }: GrantingHook): string => {
  const fields = isGranting(action) ? PURPOSE[action] : [];
  return canonical([action, fields.map((field) => actionConfig[field] ?? null), firedBy]);
};

/** True if a hook does something else after a change, or more lets it do so. */
const isAnother = (before: GrantingHook, after: GrantingHook): boolean =>
  purposeOf(before) !== purposeOf(after) || isLooser(before, after);

/**
 * True if a change of a hook ends the approvals that stand for its agents. Ours: a new secret ends
 * them too, also if it is rotated, because from then on another may fire the hook.
 */
export const endsGrants = (row: HookRow, changes: Partial<HookRow>): boolean =>
  changes.secret_sealed !== undefined ||
  isAnother(grantingHook(row), grantingHook({ ...row, ...changes }));

/** True if a condition of the old hook is no longer in the new one. */
const isLooser = (before: GrantingHook, after: GrantingHook): boolean => {
  const held = new Set(after.conditions.map(canonical));
  return before.conditions.some((condition) => !held.has(canonical(condition)));
};

/** Returns the part of a stored hook that grants tools. */
export const grantingHook = (row: HookRow): GrantingHook => ({
  action: row.action,
  actionConfig: JSON.parse(row.action_config),
  conditions: JSON.parse(row.conditions),
  firedBy: grantTrigger(
    { trigger: row.trigger, triggerConfig: JSON.parse(row.trigger_config) },
    secretBefore(row),
  ),
});

/** Returns the trigger of a hook as a value to compare: its fields, and which secret it uses. */
export const grantTrigger = (
  { trigger, triggerConfig }: { trigger: HookRow['trigger']; triggerConfig: TriggerConfig },
  secret: string,
): (string | undefined)[] => {
  const { webhookPath, verify, cron, timezone, accountId, folder } = triggerConfig;
  if (trigger === 'webhook') return [trigger, webhookPath, secret, verify && canonical(verify)];
  if (trigger === 'email') return [trigger, accountId, folder];
  return trigger === 'schedule' ? [trigger, cron, timezone] : [trigger];
};

/**
 * Returns which secret a hook uses after a change: the same, a credential's id, or `another` of its
 * own.
 */
export const secretAfter = (
  deps: SecretOpener,
  row: HookRow,
  given: Pick<TriggerConfig, 'webhookSecret' | 'webhookCredentialId'>,
): string => {
  const { webhookSecret: secret, webhookCredentialId: credential } = given;
  if (credential !== undefined) return credential;
  const isKept = secret === undefined || isOwnSecret(deps, row, secret);
  return isKept ? secretBefore(row) : 'another';
};

const secretBefore = ({ credential_id }: HookRow): string => credential_id ?? 'own';
