import { json, literal, orNull, type Row, table, text } from './table.js';

export type OperationStatus =
  | 'queued'
  | 'running'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'interrupted';

/** The progress of an operation. */
export interface OperationProgress {
  done: number;
  /** null: not known yet. */
  total: number | null;
  /** The things that are counted, in the plural: `runs`, `bytes`. */
  unit: string;
  note: string | null;
  /** The next try, while a run waits for it. */
  retry?: OperationRetry | undefined;
}

/** The try that comes next after one that broke off. */
interface OperationRetry {
  attempt: number;
  /** The most tries in a row. */
  of: number;
  nextAt: string;
  /** The reason why the last try ended. */
  reason: string;
}

/** A long piece of work. */
export const operationTable = table('operations', {
  id: text,
  user_id: text,
  kind: text,
  /** The thing that it is about: `hook` and the ID of the hook, or `user` and its owner. */
  resource_kind: text,
  resource_id: text,
  title: text,
  status: literal<OperationStatus>(),
  /** The request to its kind, as JSON. */
  input: text,
  /** The place from which it goes on, as JSON of its kind. */
  checkpoint: orNull(text),
  progress: orNull(json<OperationProgress>()),
  /** The result by its kind, as JSON. */
  result: orNull(json<Record<string, unknown>>()),
  error: orNull(text),
  created_at: text,
  started_at: orNull(text),
  finished_at: orNull(text),
});
export type OperationRow = Row<typeof operationTable>;
