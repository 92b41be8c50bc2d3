import { addClaimedJob, type JobHandler } from '../jobs/module.js';
import type { Statement } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { Directory } from './inbound/receivinghooks.js';
import type { HooksStore } from './queries.js';

/** The job of a hook that is being deleted in several transactions. */
export const DELETION_JOB = 'hook_deletion';

const laneOf = (hookId: string): string => `deletion_${hookId}`;

/**
 * Builds the statement that adds the job of a deletion, claimed by this boot, whose request deletes
 * the hook itself. If the daemon ends before, the next start runs the job.
 */
export const beginDeletion = (
  store: Store,
  { hookId, runAt, boot }: { hookId: string; runAt: string; boot: string },
): Statement =>
  addClaimedJob(store, { kind: DELETION_JOB, ref: hookId, lane: laneOf(hookId), runAt, boot });

/** Builds the statement that drops the jobs of a deletion, for the transaction that ends it. */
export const endDeletion = ({ db }: Store, hookId: string): Statement =>
  statement(
    db.deleteFrom('jobs').where('lane', '=', laneOf(hookId)).where('kind', '=', DELETION_JOB),
  );

/** Creates the job handler that ends the deletions that an earlier boot began. */
export const createDeleter = (deps: {
  store: Store;
  hooks: HooksStore;
  directory: Directory;
}): JobHandler => {
  const { store, hooks, directory } = deps;
  return {
    run: async ({ ref: hookId }, signal) => {
      await hooks.shrink(hookId, signal);
      signal.throwIfAborted();
      await store.transact([
        statement(store.db.deleteFrom('hooks').where('id', '=', hookId)),
        endDeletion(store, hookId),
      ]);
      directory.remove(hookId);
      return null;
    },
    abandon: async ({ ref: hookId }) => {
      await store.transact([endDeletion(store, hookId)]);
    },
  };
};
