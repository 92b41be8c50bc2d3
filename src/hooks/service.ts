import Boom from '@hapi/boom';
import { iso } from '../kernel/clock.js';
import type { Recorder } from '../kernel/contract/audit.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import { mint } from '../kernel/ids.js';
import { rotatedSecretColumns } from '../secrets/module.js';
import { type TransactionStep, Unavailable } from '../store/engine/protocol.js';
import { type HookRow, hookTable } from '../store/tables/hooks.js';
import { updateIf } from '../store/updateif.js';
import { storedColumns } from '../store/view.js';
import type { HookChanges, NewHook } from './contract.js';
import { checkReferences, requireOwnHookSecret } from './credential.js';
import type { HooksDeps } from './deps.js';
import { grantingHook, grantTrigger, secretAfter } from './grants.js';
import type { TriggerConfig } from './hook.js';
import { checkTriggerFolder } from './mailfolder.js';
import type { HooksStore } from './queries.js';
import { refuseGrants, refuseHookFaults, refusePath, refusePipelineFaults } from './refusals.js';
import { nextRun, scheduleChanges, zonedTrigger } from './schedule.js';
import { newSenderSecret } from './senders/newsecret.js';
import type { HookWithStats } from './view.js';

const DEFAULT_OVERLAP_MINUTES = 60;

export const addHook = async (
  deps: HooksDeps,
  by: Caller,
  given: NewHook,
): Promise<HookWithStats> => {
  const { userId } = by;
  refuseHookFaults(deps, by.userId, given);
  await refusePipelineFaults(deps, userId, given);
  refuseGrants(deps, by, null, { conditions: [], ...given, firedBy: null });
  await checkReferences(deps, userId, given);
  refusePath(deps, { userId, before: null }, given);
  const note = await checkTriggerFolder(deps.checkMailFolder, by, given.triggerConfig);
  const row = newRow(deps, userId, given);
  await deps.hooks.insert(row);
  await registerHook(deps, row);
  return { ...row, last_execution_at: null, last_status: null, note };
};

const newRow = (deps: HooksDeps, userId: string, given: NewHook): HookRow => {
  const now = deps.clock.now();
  const id = mint('hook', now);
  const { webhookSecret, webhookCredentialId, ...config } = given.triggerConfig ?? {};
  const triggerConfig = zonedTrigger(given.trigger, config);
  return {
    id,
    user_id: userId,
    name: given.name,
    description: given.description ?? null,
    trigger: given.trigger,
    trigger_config: JSON.stringify(triggerConfig),
    action: given.action,
    action_config: JSON.stringify(given.actionConfig),
    webhook_path: triggerConfig.webhookPath ?? null,
    secret_sealed: sealedOrNull(deps, id, webhookSecret),
    old_secret_sealed: null,
    old_secret_until: null,
    old_secret_last_used_at: null,
    credential_id: webhookCredentialId ?? null,
    enabled: given.enabled === false ? 0 : 1,
    conditions: JSON.stringify(given.conditions ?? []),
    concurrency: given.concurrency ?? null,
    cooldown_ms: given.cooldownMs ?? 0,
    max_executions: given.maxExecutions ?? null,
    limits: given.limits ? JSON.stringify(given.limits) : null,
    executions: 0,
    runs: 0,
    last_run_at: null,
    next_run_at: nextRun(given.trigger, triggerConfig, now),
    created_at: iso(now),
    updated_at: iso(now),
  };
};

/** A missing secret is kept while the trigger stays the same. */
export const updateHook = async (
  deps: HooksDeps,
  by: Caller,
  id: string,
  given: HookChanges,
): Promise<HookWithStats> => {
  const { userId } = by;
  await checkReferences(deps, userId, given);
  if (given.action || given.actionConfig) {
    const row = await findHook(deps, userId, id);
    const { action = row.action, actionConfig = JSON.parse(row.action_config) } = given;
    await refusePipelineFaults(deps, userId, { action, actionConfig });
  }
  const note = await checkChangedFolder(deps, by, { id, given });
  const row = await change(deps, { userId, id }, (row) =>
    buildHookChanges(deps, row, { by, given }),
  );
  return { ...row, note };
};

/** A folder that was deleted must not prevent changes of other fields. */
const checkChangedFolder = async (
  deps: HooksDeps,
  by: Caller,
  { id, given: { triggerConfig } }: { id: string; given: HookChanges },
): Promise<string | undefined> => {
  if (triggerConfig?.folder === undefined) return undefined;
  const { trigger_config } = await findHook(deps, by.userId, id);
  const { accountId, folder }: TriggerConfig = JSON.parse(trigger_config);
  if (accountId === triggerConfig.accountId && folder === triggerConfig.folder) return undefined;
  return checkTriggerFolder(deps.checkMailFolder, by, triggerConfig);
};

const buildHookChanges = (
  deps: HooksDeps,
  row: HookRow,
  { by, given }: { by: Caller; given: HookChanges },
): Partial<HookRow> => {
  const trigger = given.trigger ?? row.trigger;
  const kept = trigger === row.trigger ? JSON.parse(row.trigger_config) : {};
  const { webhookSecret, webhookCredentialId, ...config } = given.triggerConfig ?? kept;
  const triggerConfig = zonedTrigger(trigger, config, kept.timezone);
  const merged = {
    trigger,
    triggerConfig,
    action: given.action ?? row.action,
    actionConfig: given.actionConfig ?? JSON.parse(row.action_config),
    conditions: given.conditions ?? JSON.parse(row.conditions),
  };
  // A removed tool must not prevent changes of other fields. Neither must a value over the current
  // limit or an invalid body, which its executions report.
  const { webhookBody: _, ...uncheckedConfig } = merged.actionConfig;
  const actionConfig = given.actionConfig ?? uncheckedConfig;
  const checked = { ...merged, actionConfig, conditions: given.conditions };
  refuseHookFaults(deps, by.userId, checked, { areToolsKept: given.actionConfig === undefined });
  const secrets = { webhookSecret, webhookCredentialId };
  refuseGrants(deps, by, grantingHook(row), {
    ...merged,
    firedBy: grantTrigger(merged, secretAfter(deps, row, secrets)),
  });
  refusePath(deps, { userId: row.user_id, before: row.webhook_path }, merged);
  return {
    ...plainChanges(given),
    ...(trigger === row.trigger && isAbsent(secrets) ? {} : secretChanges(deps, row, secrets)),
    ...scheduleChanges(deps, row, { trigger, triggerConfig, enabled: given.enabled }),
    trigger,
    trigger_config: JSON.stringify(triggerConfig),
    webhook_path: triggerConfig.webhookPath ?? null,
    action: merged.action,
    action_config: JSON.stringify(merged.actionConfig),
    conditions: JSON.stringify(merged.conditions),
  };
};

const plainChanges = (given: HookChanges): Partial<HookRow> => {
  const { name, description, concurrency, cooldownMs, maxExecutions, limits, enabled } = given;
  const plain = { name, description, concurrency, cooldownMs, maxExecutions, limits, enabled };
  return storedColumns(hookTable, plain);
};

export const setEnabled = (
  deps: HooksDeps,
  which: { userId: string; id: string; also?: TransactionStep[] },
  enabled: boolean,
): Promise<HookWithStats> =>
  change(deps, which, (row) => ({
    enabled: enabled ? 1 : 0,
    ...scheduleChanges(deps, row, {
      trigger: row.trigger,
      triggerConfig: JSON.parse(row.trigger_config),
      enabled,
    }),
  }));

export const rotateHookSecret = async (
  deps: HooksDeps,
  { id, overlapMinutes = DEFAULT_OVERLAP_MINUTES }: { id: string; overlapMinutes?: number },
  by: Caller & Recorder,
): Promise<{ secret: string; oldSecretUntil: string | null }> => {
  let secret = '';
  const which = { id, userId: by.userId, also: [by.record({ data: { overlapMinutes } })] };
  const { old_secret_until: oldSecretUntil } = await change(deps, which, (row) => {
    if (row.trigger !== 'webhook')
      throw Boom.conflict('Only hooks with the trigger webhook have a secret');
    secret = newSenderSecret(JSON.parse(row.trigger_config).verify);
    return {
      ...rotatedSecretColumns(deps, row, { sealed: requireOwnHookSecret(row), overlapMinutes }),
      secret_sealed: deps.sealSecret(id, secret),
      old_secret_last_used_at: null,
    };
  });
  return { secret, oldSecretUntil };
};

export const deleteHook = async (deps: HooksDeps, userId: string, id: string): Promise<void> => {
  const { hooks, directory } = deps;
  await findHook(deps, userId, id);
  const isLarge = await hooks.isLarge(id);
  if (isLarge) {
    const begun = hooks.deletion.begin(id, iso(deps.clock.now()));
    // Prevents new deliveries in the meantime.
    await setEnabled(deps, { userId, id, also: [begun] }, false);
  }
  try {
    if (isLarge) await hooks.shrink(id);
    if (!(await hooks.delete(userId, id))) throw noHook();
  } catch (error) {
    if (!isLarge || !(error instanceof Unavailable)) throw error;
    hooks.deletion.release(id);
    throw Boom.serverUnavailable(DELETION_CONTINUES, { code: 'deletion_continues' });
  }
  directory.remove(id);
};

const DELETION_CONTINUES =
  'The database is not writable now. The hook is disabled, and its deletion continues automatically';

export const findHook = async (
  { hooks }: { hooks: Pick<HooksStore, 'get'> },
  userId: string,
  id: string,
): Promise<HookWithStats> => {
  const row = await hooks.get(userId, id);
  if (!row) throw noHook();
  return row;
};

const hookBeingDeleted = (): Boom.Boom =>
  Boom.conflict('This hook is being deleted', { code: 'hook_being_deleted' });

const noHook = (): Boom.Boom => Boom.notFound('No hook with that id');

/** Optimistic locking: `updated_at` is the version, so it always increases. */
const change = async (
  deps: HooksDeps,
  { userId, id, also = [] }: { userId: string; id: string; also?: TransactionStep[] },
  decide: (row: HookWithStats) => Partial<HookRow>,
): Promise<HookWithStats> => {
  const changed = await updateIf({
    clock: deps.clock,
    read: () => findHook(deps, userId, id),
    write: async (row, version) => {
      const changes = { ...decide(row), updated_at: version };
      if (changes.enabled === 1 && (await deps.hooks.deletion.isUnderWay(id)))
        throw hookBeingDeleted();
      return (await deps.hooks.update(row, changes, also)) ? { ...row, ...changes } : null;
    },
  });
  await registerHook(deps, changed);
  return changed;
};

const isAbsent = ({ webhookSecret, webhookCredentialId }: TriggerConfig): boolean =>
  webhookSecret === undefined && webhookCredentialId === undefined;

const secretChanges = (
  deps: HooksDeps,
  { id }: HookRow,
  { webhookSecret, webhookCredentialId }: TriggerConfig,
): Partial<HookRow> => ({
  secret_sealed: sealedOrNull(deps, id, webhookSecret),
  credential_id: webhookCredentialId ?? null,
  old_secret_sealed: null,
  old_secret_until: null,
  old_secret_last_used_at: null,
});

/** Keys are loaded before the hook is registered. */
const registerHook = async ({ vault, directory }: HooksDeps, row: HookRow): Promise<void> => {
  if (row.credential_id !== null) await vault.refresh();
  directory.put(row);
};

const sealedOrNull = (deps: HooksDeps, id: string, secret: string | undefined): string | null =>
  secret === undefined || secret.trim() === '' ? null : deps.sealSecret(id, secret);
