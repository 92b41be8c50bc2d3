import { randomBytes } from 'node:crypto';
import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import type { Directory } from '../../runtime/hooks/directory.js';
import { nextTime } from '../../runtime/hooks/schedule.js';
import type { HookRow } from '../../store/tables.js';
import type { HookChanges, NewHook } from './contract.js';
import { type Fault, faultsOf } from './rules.js';
import type { HooksStore } from './store.js';
import type { HookWithStats } from './view.js';

export interface HooksDeps {
  hooks: HooksStore;
  clock: Clock;
  directory: Directory;
  sealSecret(hookId: string, secret: string): string;
  /** Throws where a URL as written can never be reached; the message says why. */
  checkUrl(url: string): void;
  models(): string[];
}

const DEFAULT_OVERLAP_MINUTES = 60;

export const createHook = async (
  deps: HooksDeps,
  userId: string,
  given: NewHook,
): Promise<HookWithStats> => {
  check(deps, given);
  const now = deps.clock.now();
  const id = mint('hook', now);
  const { webhookSecret, ...triggerConfig } = given.triggerConfig ?? {};
  const row: HookRow = {
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
  await deps.hooks.insert(row);
  deps.directory.put(row);
  return { ...row, last_execution_at: null, last_status: null };
};

/** Changes what is given and keeps the rest; an absent secret is kept while the trigger stays. */
export const updateHook = async (
  deps: HooksDeps,
  userId: string,
  id: string,
  given: HookChanges,
): Promise<HookWithStats> => {
  const row = await findHook(deps, userId, id);
  const trigger = given.trigger ?? row.trigger;
  const kept = trigger === row.trigger ? JSON.parse(row.trigger_config) : {};
  const { webhookSecret, ...triggerConfig } = given.triggerConfig ?? kept;
  const merged = {
    trigger,
    triggerConfig,
    action: given.action ?? row.action,
    actionConfig: given.actionConfig ?? JSON.parse(row.action_config),
    conditions: given.conditions ?? JSON.parse(row.conditions),
  };
  check(deps, merged);
  const changes: Partial<HookRow> = {
    ...(given.name !== undefined && { name: given.name }),
    ...(given.description !== undefined && { description: given.description }),
    ...(given.concurrency !== undefined && { concurrency: given.concurrency }),
    ...(given.cooldownMs !== undefined && { cooldown_ms: given.cooldownMs }),
    ...(given.maxExecutions !== undefined && { max_executions: given.maxExecutions }),
    ...(given.limits !== undefined && {
      limits: given.limits === null ? null : JSON.stringify(given.limits),
    }),
    ...(given.enabled !== undefined && { enabled: given.enabled ? 1 : 0 }),
    ...secretChanges(deps, row, trigger, webhookSecret),
    trigger,
    trigger_config: JSON.stringify(triggerConfig),
    webhook_path: triggerConfig.webhookPath ?? null,
    action: merged.action,
    action_config: JSON.stringify(merged.actionConfig),
    conditions: JSON.stringify(merged.conditions),
    next_run_at: nextRun(trigger, triggerConfig, deps.clock.now()),
  };
  return applyChanges(deps, row, changes);
};

/** Enabling a schedule begins at its next time: what passed while it was off does not fire. */
export const setEnabled = async (
  deps: HooksDeps,
  userId: string,
  id: string,
  isEnabled: boolean,
): Promise<HookWithStats> => {
  const row = await findHook(deps, userId, id);
  return applyChanges(deps, row, {
    enabled: isEnabled ? 1 : 0,
    next_run_at: nextRun(row.trigger, JSON.parse(row.trigger_config), deps.clock.now()),
  });
};

/** The new secret, shown this once; the one before it verifies until the overlap ends. */
export const rotateSecret = async (
  deps: HooksDeps,
  userId: string,
  id: string,
  overlapMinutes = DEFAULT_OVERLAP_MINUTES,
): Promise<{ secret: string; oldSecretUntil: string | null }> => {
  const row = await findHook(deps, userId, id);
  if (row.trigger !== 'webhook') throw Boom.conflict('Only a webhook hook has a secret');
  const secret = randomBytes(36).toString('base64url');
  const until =
    row.secret_sealed === null || overlapMinutes === 0
      ? null
      : iso(deps.clock.now() + overlapMinutes * 60_000);
  await applyChanges(deps, row, {
    secret_sealed: deps.sealSecret(id, secret),
    old_secret_sealed: until === null ? null : row.secret_sealed,
    old_secret_until: until,
    old_secret_last_used_at: null,
  });
  return { secret, oldSecretUntil: until };
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

const applyChanges = async (
  deps: HooksDeps,
  row: HookWithStats,
  changes: Partial<HookRow>,
): Promise<HookWithStats> => {
  const updated = { ...changes, updated_at: iso(deps.clock.now()) };
  if (!(await deps.hooks.update(row.user_id, row.id, updated))) throw noHook();
  const now = await findHook(deps, row.user_id, row.id);
  deps.directory.put(now);
  return now;
};

const check = (deps: HooksDeps, hook: Parameters<typeof faultsOf>[0]): void => {
  const faults = faultsOf(hook, { models: deps.models() });
  const { webhookUrl } = hook.actionConfig;
  if (hook.action === 'webhook' && webhookUrl) faults.push(...urlFaults(deps, webhookUrl));
  if (faults.length === 0) return;
  const said = faults.map(({ path, message }) => `${path} ${message}`).join('; ');
  throw Boom.badRequest(`Not accepted: ${said}`, { details: faults });
};

const urlFaults = ({ checkUrl }: HooksDeps, url: string): Fault[] => {
  try {
    checkUrl(url);
    return [];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ path: 'actionConfig.webhookUrl', message }];
  }
};

const secretChanges = (
  deps: HooksDeps,
  row: HookRow,
  trigger: HookRow['trigger'],
  secret: string | undefined,
): Partial<HookRow> => {
  const none = { old_secret_sealed: null, old_secret_until: null, old_secret_last_used_at: null };
  if (trigger !== row.trigger) {
    return { secret_sealed: sealedOrNull(deps, row.id, secret), ...none };
  }
  return secret === undefined ? {} : { secret_sealed: sealedOrNull(deps, row.id, secret), ...none };
};

const sealedOrNull = (deps: HooksDeps, id: string, secret: string | undefined): string | null =>
  secret === undefined || secret.trim() === '' ? null : deps.sealSecret(id, secret);

const nextRun = (
  trigger: HookRow['trigger'],
  { cron, timezone }: { cron?: string; timezone?: string },
  now: number,
): string | null => (trigger === 'schedule' && cron ? nextTime(cron, timezone, now) : null);
