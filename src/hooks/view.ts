import { randomUUID } from 'node:crypto';
import { JsonText } from '../kernel/contract/endpoint.js';
import type { DeliveryRow, ExecutionRow, ExecutionStatus, HookRow } from '../store/tables/hooks.js';
import type { Execution, Hook } from './contract.js';

export type HookWithStats = HookRow & {
  last_execution_at: string | null;
  last_status: ExecutionStatus | null;
};

/** Returns a hook as the API shows it. Of its secret it shows only if one is set. */
export const viewHook = (row: HookWithStats): Hook => ({
  id: row.id,
  name: row.name,
  description: row.description,
  trigger: row.trigger,
  triggerConfig: viewTrigger(row),
  action: row.action,
  actionConfig: JSON.parse(row.action_config),
  enabled: row.enabled === 1,
  conditions: JSON.parse(row.conditions),
  concurrency: row.concurrency,
  cooldownMs: row.cooldown_ms,
  maxExecutions: row.max_executions,
  limits: row.limits === null ? null : JSON.parse(row.limits),
  stats: {
    executions: row.executions,
    lastExecutionAt: row.last_execution_at,
    lastStatus: row.last_status,
  },
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

const viewTrigger = (row: HookRow): Hook['triggerConfig'] => {
  const config = JSON.parse(row.trigger_config);
  if (row.trigger === 'schedule') return { ...config, nextRunAt: row.next_run_at };
  if (row.trigger !== 'webhook') return config;
  return {
    ...config,
    webhookSecretSet: row.secret_sealed !== null || row.credential_id !== null,
    ...(row.credential_id !== null && { webhookCredentialId: row.credential_id }),
    ...(row.old_secret_sealed !== null && {
      oldSecretUntil: row.old_secret_until,
      oldSecretLastUsedAt: row.old_secret_last_used_at,
    }),
  };
};

export type ExecutionWithDelivery = ExecutionRow & {
  delivery: Pick<
    DeliveryRow,
    'path' | 'method' | 'headers' | 'body' | 'event' | 'received_at'
  > | null;
};

/**
 * Returns an execution with its trigger's data, as JSON. The payload is inserted as it was
 * received, since it would take seconds to parse and write 4 MiB again.
 */
export const executionText = (row: ExecutionWithDelivery): string => {
  const place = `payload ${randomUUID()}`;
  const text = JSON.stringify(viewExecution(row, place));
  return row.delivery ? text.replace(`"${place}"`, () => row.delivery?.body ?? 'null') : text;
};

/** Returns a page or list of executions, as JSON. */
export const executionsText = (rows: ExecutionWithDelivery[], rest: object): JsonText => {
  const members = JSON.stringify(rest).slice(1);
  return new JsonText(`{"executions":[${rows.map(executionText).join(',')}],${members}`);
};

const viewExecution = (row: ExecutionWithDelivery, payload: string): Execution => ({
  id: row.id,
  hookId: row.hook_id,
  deliveryId: row.delivery_id,
  status: row.status,
  trigger: row.trigger,
  action: row.action,
  triggerContext: viewContext(row, payload),
  result: row.result === null ? null : JSON.parse(row.result),
  error: row.error,
  attempts: row.attempts,
  agentId: row.agent_id,
  replayOf: row.replay_of,
  durationMs:
    row.started_at === null || row.finished_at === null
      ? null
      : Math.max(0, Date.parse(row.finished_at) - Date.parse(row.started_at)),
  createdAt: row.created_at,
  startedAt: row.started_at,
  finishedAt: row.finished_at,
});

const viewContext = ({ delivery, context, created_at }: ExecutionWithDelivery, payload: string) => {
  if (!delivery) {
    const fired = context === null ? {} : JSON.parse(context);
    return { ...fired, event: fired.event ?? null, receivedAt: created_at };
  }
  return {
    webhook: {
      path: delivery.path,
      method: delivery.method,
      headers: JSON.parse(delivery.headers),
      body: payload,
    },
    event: delivery.event,
    receivedAt: delivery.received_at,
  };
};
