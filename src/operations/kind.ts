import type { TransactionStep } from '../store/engine/protocol.js';
import type { OperationProgress, OperationRow } from '../store/tables/operations.js';

/** The end that a run comes to by itself. */
export type OperationEnd =
  | { status: 'completed'; result: Record<string, unknown> }
  | { status: 'failed'; error: string; result?: Record<string, unknown> };

/** One run of an operation: from its beginning, or from its checkpoint after an interruption. */
export interface OperationRun<Input, Checkpoint> {
  id: string;
  userId: string;
  input: Input;
  /** The place from which it goes on; null at its beginning. */
  checkpoint: Checkpoint | null;
  /**
   * Commits what a step writes together with the checkpoint after it, so that no step is done twice.
   * Throws Unmet, with the index among `steps`, if one of them fails its expectation: then nothing
   * was written. Rejects with the signal's reason once the operation has ended.
   */
  commit(
    steps: TransactionStep[],
    after: { checkpoint: Checkpoint; progress: OperationProgress },
  ): Promise<void>;
  /** Throws what ends the operation if its owner may not have it done any more. */
  refuseForbidden(): Promise<void>;
  /** Tells how far it is between two commits. It is not stored before the next one. */
  progress(now: OperationProgress): void;
  /** Aborted when it is cancelled or when the daemon stops. */
  signal: AbortSignal;
}

/** A kind of operation. The module that carries it out registers it before the start. */
export interface OperationKind<Input = unknown, Checkpoint = unknown> {
  /** `<resource>.<verb>`: `hooks.replay`. */
  kind: string;
  /**
   * True if a run can go on from its checkpoint. One that cannot ends as `interrupted` if the daemon
   * ends while it runs.
   */
  isResumable: boolean;
  /**
   * True if its runs wait for a worker process. They have lanes of their own, so that other operations
   * of a user do not wait for them.
   */
  isHeavy?: true;
  /** The most operations of the kind that wait or run for one user; 100 unless given. */
  most?: number;
  /** True if only admins may have it done. It ends once its owner is none any more. */
  isAdmins: boolean;
  /** True if its input, which may hold addresses with keys, is dropped when it ends. */
  isInputDropped?: true;
  run(of: OperationRun<Input, Checkpoint>): Promise<OperationEnd>;
  /**
   * Returns further steps of the transaction in which the operation ends, however it ends, so that
   * its resource ends with it.
   */
  ended?(row: OperationRow, status: OperationRow['status']): TransactionStep[];
}
