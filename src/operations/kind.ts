import type { TransactionStep } from '../store/engine/protocol.js';
import type { OperationProgress, OperationRow } from '../store/tables/operations.js';

export type OperationEnd =
  | { status: 'completed'; result: Record<string, unknown> }
  | { status: 'failed'; error: string; result?: Record<string, unknown> };

/** One run: from the beginning, or from the checkpoint after an interruption. */
export interface OperationRun<Input, Checkpoint> {
  id: string;
  userId: string;
  input: Input;
  /** Where the run continues; null at the beginning. */
  checkpoint: Checkpoint | null;
  /**
   * Commits the steps together with the checkpoint after them, so that no step is done twice. Throws
   * Unmet with the index of a failed step; nothing was written then. Rejects with the signal's reason
   * once the operation has ended.
   */
  commit(
    steps: TransactionStep[],
    after: { checkpoint: Checkpoint; progress: OperationProgress },
  ): Promise<void>;
  /** Throws if the owner is no longer allowed to run the operation. */
  refuseForbidden(): Promise<void>;
  /** Reports progress between two commits. It is stored with the next commit. */
  progress(now: OperationProgress): void;
  /** Aborted when the operation is cancelled or the daemon stops. */
  signal: AbortSignal;
}

/** A kind of operation. Its module registers it before the start. */
export interface OperationKind<Input = unknown, Checkpoint = unknown> {
  /** `<resource>.<verb>`, such as `hooks.replay`. */
  kind: string;
  /** False: a run that the daemon's end interrupts ends as `interrupted`. */
  isResumable: boolean;
  /** Runs that wait for a worker process have separate lanes, so that other operations do not wait. */
  isHeavy?: true;
  /** Maximum number of unfinished operations of the kind per user. Defaults to 100. */
  most?: number;
  /** True if only admins may run it. It ends once its owner is no longer an admin. */
  isAdmins: boolean;
  /** True if the input, which may contain addresses with keys, is deleted at the end. */
  isInputDropped?: true;
  run(of: OperationRun<Input, Checkpoint>): Promise<OperationEnd>;
  /** Returns further steps of the transaction in which the operation ends, whatever the status. */
  ended?(row: OperationRow, status: OperationRow['status']): TransactionStep[];
}
