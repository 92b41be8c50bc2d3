import type { OverlapDeps } from '../secrets/overlap.js';
import type { HookRow } from '../store/tables/hooks.js';
import { isOwnSecret, type TriggerGiven } from './credential.js';
import type { GrantingHook } from './grants.js';
import type { TriggerConfig } from './hook.js';

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
  const { webhookPath, cron, timezone } = triggerConfig;
  if (trigger === 'webhook') return [trigger, webhookPath, secret];
  return trigger === 'schedule' ? [trigger, cron, timezone] : [trigger];
};

/**
 * Returns which secret a hook uses after a change: the same, a credential's id, or `another` of its
 * own.
 */
export const secretAfter = (
  deps: Pick<OverlapDeps, 'openSecret'>,
  row: HookRow,
  given: Pick<TriggerGiven, 'webhookSecret' | 'webhookCredentialId'>,
): string => {
  const { webhookSecret: secret, webhookCredentialId: credential } = given;
  if (credential !== undefined) return credential;
  const isKept = secret === undefined || isOwnSecret(deps, row, secret);
  return isKept ? secretBefore(row) : 'another';
};

const secretBefore = ({ credential_id }: HookRow): string => credential_id ?? 'own';
