import { randomBytes } from 'node:crypto';
import Boom from '@hapi/boom';
import { iso } from '../kernel/clock.js';
import type { Recorder } from '../kernel/contract/audit.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import { mint } from '../kernel/ids.js';
import type { GrantRule } from '../permissions/grants.js';
import { type RotationDeps, rotated } from '../secrets/overlap.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { HookRow } from '../store/tables/hooks.js';
import type { Vault } from '../vault/vault.js';
import type { HookChanges, NewHook } from './contract.js';
import { checkCredentials, ownSecretOf, type TriggerGiven } from './credential.js';
import { grantingHook, grantTrigger, secretAfter } from './granttriggers.js';
import type { Directory } from './inbound/receivinghooks.js';
import type { HooksStore } from './queries.js';
import { refuseCrowd, refuseGrants, refuseHookFaults } from './refusals.js';
import { nextTime } from './schedule.js';
import type { HookWithStats } from './view.js';

export interface HooksDeps extends RotationDeps {
  hooks: HooksStore;
  directory: Directory;
  /** Throws if a URL as written can never be reached; the message says why. */
  checkUrl(url: string): void;
  models(): string[];
  /** Returns the faults of the tools with these names, each with its place in the list. */
  faultsOfTools(names: string[]): { at: number; message: string }[];
  vault: Pick<Vault, 'isOwn' | 'newest' | 'refresh'>;
  grants: GrantRule;
}

const DEFAULT_OVERLAP_MINUTES = 60;

export const addHook = async (
  deps: HooksDeps,
  by: Caller,
  given: NewHook,
): Promise<HookWithStats> => {
  const { userId } = by;
  refuseHookFaults(deps, given);
  refuseGrants(deps, by, null, { conditions: [], ...given, firedBy: null });
  await checkCredentials(deps, userId, given);
  refuseCrowd(deps, userId, given.triggerConfig?.webhookPath);
  const row = newRow(deps, userId, given);
  await deps.hooks.insert(row);
  await putInPlace(deps, row);
  return { ...row, last_execution_at: null, last_status: null };
};

const newRow = (deps: HooksDeps, userId: string, given: NewHook): HookRow => {
  const now = deps.clock.now();
  const id = mint('hook', now);
  const { webhookSecret, webhookCredentialId, ...triggerConfig } = given.triggerConfig ?? {};
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

/**
 * Changes the given fields and keeps the rest. A secret that is not given is kept while the trigger
 * stays.
 */
export const updateHook = async (
  deps: HooksDeps,
  by: Caller,
  id: string,
  given: HookChanges,
): Promise<HookWithStats> => {
  const { userId } = by;
  await checkCredentials(deps, userId, given);
  return change(deps, { userId, id }, (row) => changesOf(deps, row, { by, given }));
};

const changesOf = (
  deps: HooksDeps,
  row: HookRow,
  { by, given }: { by: Caller; given: HookChanges },
): Partial<HookRow> => {
  const trigger = given.trigger ?? row.trigger;
  const kept = trigger === row.trigger ? JSON.parse(row.trigger_config) : {};
  const { webhookSecret, webhookCredentialId, ...triggerConfig } = given.triggerConfig ?? kept;
  const merged = {
    trigger,
    triggerConfig,
    action: given.action ?? row.action,
    actionConfig: given.actionConfig ?? JSON.parse(row.action_config),
    conditions: given.conditions ?? JSON.parse(row.conditions),
  };
  // A tool that existed when the hook was written may have been removed: that must not block a
  // change of other fields. Nor must a value that is too long now; its executions report it.
  const checked = { ...merged, conditions: given.conditions };
  refuseHookFaults(given.actionConfig ? deps : { ...deps, faultsOfTools: () => [] }, checked);
  const secrets = { trigger, webhookSecret, webhookCredentialId };
  refuseGrants(deps, by, grantingHook(row), {
    ...merged,
    firedBy: grantTrigger(merged, secretAfter(deps, row, secrets)),
  });
  if (triggerConfig.webhookPath !== row.webhook_path) {
    refuseCrowd(deps, row.user_id, triggerConfig.webhookPath);
  }
  return {
    ...plainChanges(given),
    ...secretChanges(deps, row, secrets),
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
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(concurrency !== undefined && { concurrency }),
    ...(cooldownMs !== undefined && { cooldown_ms: cooldownMs }),
    ...(maxExecutions !== undefined && { max_executions: maxExecutions }),
    ...(limits !== undefined && { limits: limits === null ? null : JSON.stringify(limits) }),
    ...(enabled !== undefined && { enabled: enabled ? 1 : 0 }),
  };
};

export const setEnabled = (
  deps: HooksDeps,
  userId: string,
  id: string,
  enabled: boolean,
): Promise<HookWithStats> =>
  change(deps, { userId, id }, (row) => ({
    enabled: enabled ? 1 : 0,
    ...scheduleChanges(deps, row, {
      trigger: row.trigger,
      triggerConfig: JSON.parse(row.trigger_config),
      enabled,
    }),
  }));

/**
 * Replaces the secret and returns the new one, which is shown only this once. Each earlier one
 * stays valid until its own overlap ends.
 */
export const rotateHookSecret = async (
  deps: HooksDeps,
  { id, overlapMinutes = DEFAULT_OVERLAP_MINUTES }: { id: string; overlapMinutes?: number },
  by: Caller & Recorder,
): Promise<{ secret: string; oldSecretUntil: string | null }> => {
  const secret = randomBytes(36).toString('base64url');
  const which = { id, userId: by.userId, also: [by.record({ data: { overlapMinutes } })] };
  const { old_secret_until: oldSecretUntil } = await change(deps, which, (row) => {
    if (row.trigger !== 'webhook') throw Boom.conflict('Only a webhook hook has a secret');
    return {
      ...rotated(deps, row, { sealed: ownSecretOf(row), overlapMinutes }),
      secret_sealed: deps.sealSecret(id, secret),
      old_secret_last_used_at: null,
    };
  });
  return { secret, oldSecretUntil };
};

export const deleteHook = async (deps: HooksDeps, userId: string, id: string): Promise<void> => {
  if (!(await deps.hooks.delete(userId, id))) throw noHook();
  deps.directory.remove(id);
};

export const findHook = async (
  { hooks }: Pick<HooksDeps, 'hooks'>,
  userId: string,
  id: string,
): Promise<HookWithStats> => {
  const row = await hooks.get(userId, id);
  if (!row) throw noHook();
  return row;
};

const noHook = (): Boom.Boom => Boom.notFound('No hook with that id');

/**
 * Decides on the row that it changes; if another change comes between, it decides again. The time
 * of a change serves as its version, so it always increases.
 */
const change = async (
  deps: HooksDeps,
  { userId, id, also = [] }: { userId: string; id: string; also?: TransactionStep[] },
  decide: (row: HookWithStats) => Partial<HookRow>,
): Promise<HookWithStats> => {
  while (true) {
    const row = await findHook(deps, userId, id);
    const at = Math.max(deps.clock.now(), Date.parse(row.updated_at) + 1);
    const changes = { ...decide(row), updated_at: iso(at) };
    if (!(await deps.hooks.update(row, changes, also))) continue;
    const changed = { ...row, ...changes };
    await putInPlace(deps, changed);
    return changed;
  }
};

const secretChanges = (
  deps: HooksDeps,
  row: HookRow,
  given: TriggerSecretInput,
): Partial<HookRow> => {
  const { trigger, webhookSecret: secret, webhookCredentialId: credential } = given;
  const isAbsent = secret === undefined && credential === undefined;
  if (trigger === row.trigger && isAbsent) return {};
  return {
    secret_sealed: sealedOrNull(deps, row.id, secret),
    credential_id: credential ?? null,
    old_secret_sealed: null,
    old_secret_until: null,
    old_secret_last_used_at: null,
  };
};

interface TriggerSecretInput extends Pick<TriggerGiven, 'webhookSecret' | 'webhookCredentialId'> {
  trigger: HookRow['trigger'];
}

/** Registers the hook for receiving. The keys are loaded before the hook is. */
const putInPlace = async ({ vault, directory }: HooksDeps, row: HookRow): Promise<void> => {
  if (row.credential_id !== null) await vault.refresh();
  directory.put(row);
};

const sealedOrNull = (deps: HooksDeps, id: string, secret: string | undefined): string | null =>
  secret === undefined || secret.trim() === '' ? null : deps.sealSecret(id, secret);

/**
 * Returns the new due time if a schedule was enabled or changed: due times that passed meanwhile do
 * not fire. Otherwise the due time stays unchanged, as it may be reached at this moment.
 */
const scheduleChanges = (
  { clock }: HooksDeps,
  row: HookRow,
  after: { trigger: HookRow['trigger']; triggerConfig: Times; enabled: boolean | undefined },
): Partial<HookRow> => {
  const { cron, timezone }: Times = JSON.parse(row.trigger_config);
  const { trigger, triggerConfig, enabled } = after;
  const isSame =
    trigger === row.trigger && cron === triggerConfig.cron && timezone === triggerConfig.timezone;
  if (isSame && !(enabled === true && row.enabled === 0)) return {};
  return { next_run_at: nextRun(trigger, triggerConfig, clock.now()) };
};

interface Times {
  cron?: string;
  timezone?: string;
}

const nextRun = (
  trigger: HookRow['trigger'],
  { cron, timezone }: Times,
  now: number,
): string | null => (trigger === 'schedule' && cron ? nextTime(cron, timezone, now) : null);
