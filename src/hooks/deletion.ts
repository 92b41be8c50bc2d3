import { sql } from 'kysely';
import { addClaimedJob, type JobHandler, type Queue } from '../jobs/module.js';
import type { Clock } from '../kernel/clock.js';
import type { Log } from '../kernel/log.js';
import { type Statement, Unavailable } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { Directory } from './inbound/receivinghooks.js';

export const DELETION_JOB = 'hook_deletion';
/** The index of these jobs contains the kind as a literal. */
const KIND = sql.lit(DELETION_JOB);

const formatDeletionLane = (hookId: string): string => `deletion_${hookId}`;

export const endDeletion = ({ db }: Store, hookId: string): Statement =>
  statement(db.deleteFrom('jobs').where('ref', '=', hookId).where('kind', '=', KIND));

const AGAIN_MS = 5000;

export const createHookDeletion = (deps: {
  store: Store;
  clock: Clock;
  boot: string;
  log: Log;
  queue: Pick<Queue, 'added'>;
}) => {
  const { store, clock, boot, log, queue } = deps;
  const { db } = store;

  const release = async (hookId: string): Promise<void> => {
    const jobs = db.updateTable('jobs').where('ref', '=', hookId).where('kind', '=', KIND);
    for (;;) {
      try {
        await store.transact([statement(jobs.set({ boot: null }))]);
        return queue.added(formatDeletionLane(hookId));
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        await clock.wait(AGAIN_MS, undefined, { ref: false });
      }
    }
  };

  return {
    /**
     * The job is already claimed by this boot, because the request itself deletes the hook. If the
     * daemon stops first, the next start runs the job.
     */
    begin: (hookId: string, runAt: string): Statement => {
      const job = { kind: DELETION_JOB, ref: hookId, lane: formatDeletionLane(hookId) };
      return addClaimedJob(store, { ...job, runAt, boot });
    },
    /** Returns a failed deletion to the queue as soon as the database is writable. */
    release: (hookId: string): void => {
      release(hookId).catch((err) =>
        log.warn({ err, hookId }, 'the deletion of a hook failed; it continues at the next start'),
      );
    },
    isUnderWay: async (hookId: string): Promise<boolean> => {
      const jobs = db.selectFrom('jobs').select('id').where('ref', '=', hookId);
      return (await jobs.where('kind', '=', KIND).executeTakeFirst()) !== undefined;
    },
  };
};

export type HookDeletion = ReturnType<typeof createHookDeletion>;

export const createDeleter = (deps: {
  store: Store;
  hooks: { shrink(id: string, signal: AbortSignal): Promise<void> };
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
