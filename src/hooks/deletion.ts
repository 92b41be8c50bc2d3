import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { addClaimedJob, type JobHandler, type Queue } from '../jobs/module.js';
import type { Log } from '../kernel/log.js';
import { type Statement, Unavailable } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { Directory } from './inbound/receivinghooks.js';
import type { HooksStore } from './queries.js';

/** The job of a hook that is being deleted in several transactions. */
export const DELETION_JOB = 'hook_deletion';
/** The index of these jobs takes their kind literally. */
const KIND = sql.lit(DELETION_JOB);

const laneOf = (hookId: string): string => `deletion_${hookId}`;

/** Builds the statement that drops the jobs of a deletion, for the transaction that ends it. */
export const endDeletion = ({ db }: Store, hookId: string): Statement =>
  statement(db.deleteFrom('jobs').where('ref', '=', hookId).where('kind', '=', KIND));

const AGAIN_MS = 5000;

/** Creates the deletion of hooks with so many rows that it takes several transactions. */
export const createHookDeletion = (deps: {
  store: Store;
  boot: string;
  log: Log;
  queue: Pick<Queue, 'added'>;
}) => {
  const { store, boot, log, queue } = deps;
  const { db } = store;

  const release = async (hookId: string): Promise<void> => {
    const jobs = db.updateTable('jobs').where('ref', '=', hookId).where('kind', '=', KIND);
    for (;;) {
      try {
        await store.transact([statement(jobs.set({ boot: null }))]);
        return queue.added(laneOf(hookId));
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        await wait(AGAIN_MS, undefined, { ref: false });
      }
    }
  };

  return {
    /**
     * Builds the statement that adds the job of a deletion, claimed by this boot, whose request
     * deletes the hook itself. If the daemon ends before, the next start runs the job.
     */
    begin: (hookId: string, runAt: string): Statement => {
      const job = { kind: DELETION_JOB, ref: hookId, lane: laneOf(hookId) };
      return addClaimedJob(store, { ...job, runAt, boot });
    },
    /** Gives a deletion whose request has failed to the queue, once the database can be written. */
    release: (hookId: string): void => {
      release(hookId).catch((err) =>
        log.warn({ err, hookId }, 'the deletion of a hook failed; it continues at the next start'),
      );
    },
    /** True if the deletion has begun and has not ended. */
    isUnderWay: async (hookId: string): Promise<boolean> => {
      const jobs = db.selectFrom('jobs').select('id').where('ref', '=', hookId);
      return (await jobs.where('kind', '=', KIND).executeTakeFirst()) !== undefined;
    },
  };
};

export type HookDeletion = ReturnType<typeof createHookDeletion>;

/** Creates the job handler that ends the deletions whose requests did not. */
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
