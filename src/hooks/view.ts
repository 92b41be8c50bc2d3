import { randomUUID } from 'node:crypto';
import { JsonText } from '../kernel/contract/endpoint.js';
import { noteOfCron } from '../schedule/module.js';
import {
  type DeliveryRow,
  type ExecutionRow,
  type ExecutionStatus,
  executionTable,
  type HookRow,
  hookTable,
} from '../store/tables/hooks.js';
import { type OutboundMessageRow, outboundMessageTable } from '../store/tables/outbox.js';
import { viewer } from '../store/view.js';
import { Hook } from './contract.js';
import { Execution } from './executions/contract.js';
import { HookReply } from './replies/contract.js';

export type HookWithStats = HookRow & {
  last_execution_at: string | null;
  last_status: ExecutionStatus | null;
  /** About what was just saved. */
  note?: string | undefined;
};

const viewTrigger = (row: HookWithStats): Hook['triggerConfig'] => {
  const config = JSON.parse(row.trigger_config);
  if (row.trigger === 'schedule') {
    const nextRunAt = row.enabled === 1 ? row.next_run_at : null;
    return { ...config, nextRunAt, note: noteOfCron(config.cron ?? '') };
  }
  if (row.trigger !== 'webhook') return { ...config, ...(row.note && { note: row.note }) };
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

export const viewHook = viewer(hookTable, Hook, {
  triggerConfig: viewTrigger,
  stats: (row: HookWithStats) => ({
    executions: row.executions,
    lastExecutionAt: row.last_execution_at,
    lastStatus: row.last_status,
  }),
});

export type ExecutionWithDelivery = ExecutionRow & {
  delivery: DeliveryRow | null;
};

/**
 * The payload is inserted as received, because parsing and writing 4 MiB again would take seconds.
 */
export const executionText = (row: ExecutionWithDelivery): string => {
  const place = `payload ${randomUUID()}`;
  const text = JSON.stringify(viewExecution({ ...row, payload: place }));
  return row.delivery ? text.replace(`"${place}"`, () => row.delivery?.body ?? 'null') : text;
};

export const executionsText = (rows: ExecutionWithDelivery[], rest: object): JsonText => {
  const members = JSON.stringify(rest).slice(1);
  return new JsonText(`{"executions":[${rows.map(executionText).join(',')}],${members}`);
};

type ExecutionInText = ExecutionWithDelivery & { payload: string };

const viewContext = ({ delivery, context, created_at, payload }: ExecutionInText) => {
  if (!delivery) {
    const fired = context === null ? {} : JSON.parse(context);
    return { ...fired, event: fired.event ?? null, receivedAt: created_at };
  }
  return {
    webhook: {
      path: delivery.path,
      method: delivery.method,
      headers: JSON.parse(delivery.headers),
      ...(delivery.query !== null && { query: JSON.parse(delivery.query) }),
      body: payload,
    },
    event: delivery.event,
    receivedAt: delivery.received_at,
  };
};

const viewExecution = viewer(executionTable, Execution, {
  triggerContext: viewContext,
  durationMs: ({ started_at, finished_at }) =>
    started_at === null || finished_at === null
      ? null
      : Math.max(0, Date.parse(finished_at) - Date.parse(started_at)),
});

export const viewReply = viewer(outboundMessageTable, HookReply, {
  executionId: ({ cause_id }: OutboundMessageRow) => cause_id,
  hookId: ({ hook_id }) => hook_id ?? '',
  preset: ({ content }) => JSON.parse(content).preset,
  url: ({ receipt }) => (receipt === null ? null : JSON.parse(receipt).url),
  nextAttemptAt: ({ next_at }) => next_at,
});
