import type { Condition } from '../kernel/contract/condition.js';
import { canonical } from '../kernel/jsonvalue.js';
import type { SecretOpener } from '../secrets/module.js';
import type { HookRow } from '../store/tables/hooks.js';
import { isOwnSecret } from './credential.js';
import type { ActionConfig, TriggerConfig } from './hook.js';

export interface GrantingAction {
  action: string;
  actionConfig: Pick<ActionConfig, PurposeField | 'agentTools' | 'reply'>;
}

export interface GrantingHook extends GrantingAction {
  conditions: Condition[];
  firedBy: unknown;
}

const PURPOSE = {
  spawn_agent: ['agentPrompt', 'agentTopic', 'agentModel', 'orchestrated', 'reply'],
  execute_tool: ['toolId', 'toolAction', 'toolParams'],
  start_pipeline: ['templateId', 'params', 'reply'],
} as const;
type PurposeField = (typeof PURPOSE)[keyof typeof PURPOSE][number];

/**
 * Returns the tools that a change newly grants; `before` is null for a new hook. If the purpose or
 * the trigger changes, or a condition is removed, all tools count as newly granted.
 */
export const newlyGrantedTools = (
  acting: (names: string[]) => string[],
  before: GrantingHook | null,
  after: GrantingHook,
): string[] => {
  const granted = acting(hookTools(after));
  if (!before || isChanged(before, after)) return granted;
  const known = hookTools(before);
  const kept = new Set([...known, ...acting(known)]);
  return granted.filter((name) => !kept.has(name));
};

/** Represents the pipeline action among the tool names. */
const PIPELINES = 'pipelines.start';

/** Represents the reply to the source, which needs no approval either. */
const REPLY = 'hooks.reply';

export const hookTools = ({ action, actionConfig }: GrantingAction): string[] => {
  const reply = actionConfig.reply ? [REPLY] : [];
  if (action === 'spawn_agent') return [...(actionConfig.agentTools ?? []), ...reply];
  if (action === 'start_pipeline') return [PIPELINES, ...reply];
  if (action !== 'execute_tool') return [];
  const { toolId = '', toolAction = '' } = actionConfig;
  return [`${toolId}.${toolAction}`];
};

const isGranting = (action: string): action is keyof typeof PURPOSE => action in PURPOSE;

const serializeGrantPurpose = ({ action, actionConfig, firedBy }: GrantingHook): string => {
  const fields = isGranting(action) ? PURPOSE[action] : [];
  return canonical([action, fields.map((field) => actionConfig[field] ?? null), firedBy]);
};

const isChanged = (before: GrantingHook, after: GrantingHook): boolean =>
  serializeGrantPurpose(before) !== serializeGrantPurpose(after) ||
  isLessRestrictive(before, after);

/** A new secret also ends the grants, because somebody else may fire the hook from then on. */
export const revokesGrants = (row: HookRow, changes: Partial<HookRow>): boolean =>
  changes.secret_sealed !== undefined ||
  isChanged(grantingHook(row), grantingHook({ ...row, ...changes }));

const isLessRestrictive = (before: GrantingHook, after: GrantingHook): boolean => {
  const remaining = new Set(after.conditions.map(canonical));
  return before.conditions.some((condition) => !remaining.has(canonical(condition)));
};

export const grantingHook = (row: HookRow): GrantingHook => ({
  action: row.action,
  actionConfig: JSON.parse(row.action_config),
  conditions: JSON.parse(row.conditions),
  firedBy: grantTrigger(
    { trigger: row.trigger, triggerConfig: JSON.parse(row.trigger_config) },
    secretBefore(row),
  ),
});

export const grantTrigger = (
  { trigger, triggerConfig }: { trigger: HookRow['trigger']; triggerConfig: TriggerConfig },
  secret: string,
): (string | undefined)[] => {
  const { webhookPath, verify, cron, timezone, accountId, folder } = triggerConfig;
  if (trigger === 'webhook') return [trigger, webhookPath, secret, verify && canonical(verify)];
  if (trigger === 'email') return [trigger, accountId, folder];
  return trigger === 'schedule' ? [trigger, cron, timezone] : [trigger];
};

/** Returns a credential ID, `own` or `another`. */
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
