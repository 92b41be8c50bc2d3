import { json, literal, orNull, type Row, table, text } from './table.js';

export type OperationStatus =
  | 'queued'
  | 'running'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'interrupted';

export interface OperationProgress {
  done: number;
  total: number | null;
  /** Plural: `runs`, `bytes`. */
  unit: string;
  note: string | null;
  retry?: OperationRetry | undefined;
}

interface OperationRetry {
  attempt: number;
  of: number;
  nextAt: string;
  reason: string;
}

export const operationTable = table('operations', {
  id: text,
  user_id: text,
  kind: text,
  /** `hook` and its ID, or `user` and the owner. */
  resource_kind: text,
  resource_id: text,
  title: text,
  status: literal<OperationStatus>(),
  input: text,
  checkpoint: orNull(text),
  progress: orNull(json<OperationProgress>()),
  result: orNull(json<Record<string, unknown>>()),
  error: orNull(text),
  created_at: text,
  started_at: orNull(text),
  finished_at: orNull(text),
});
export type OperationRow = Row<typeof operationTable>;
