import { iso } from '../kernel/clock.js';
import { JsonText, type KeptReply, type ReplayCall } from '../kernel/contract/endpoint.js';
import { Taken } from './engine/protocol.js';
import { deleteRows, selectRows, updateRows } from './rows.js';
import { type Store, statement } from './store.js';
import { idempotencyTable } from './tables/jobs.js';

const KEPT_MS = 24 * 3600 * 1000;

interface ReplayDeps {
  now(): string;
  /**
   * Returns a keyed digest: a body may hold a secret, and a plain digest of a short one could be
   * reversed by trying.
   */
  digest(bodyDigest: string): string;
}

/** Creates the store of idempotency records. They are kept for 24 hours. */
export const replayStore = (store: Store, { now, digest }: ReplayDeps) => {
  const { db } = store;
  let cleared: Promise<unknown> | null = null;

  /** Frees the keys of calls that an earlier process left running, because they will never end. */
  const clearOnce = (): Promise<unknown> => {
    cleared ??= db
      .deleteFrom('idempotency')
      .where('status', 'is', null)
      .execute()
      .catch((error) => {
        cleared = null;
        throw error;
      });
    return cleared;
  };

  const of = ({ userId, route, key }: ReplayCall) => ({ user_id: userId, route, key });

  const removal = (call: ReplayCall) => deleteRows(db, idempotencyTable, of(call));

  const kept = async (call: ReplayCall): Promise<KeptReply | 'running' | 'other_body'> => {
    const row = await selectRows(db, idempotencyTable, of(call)).executeTakeFirst();
    if (row && row.body_digest !== digest(call.bodyDigest)) return 'other_body';
    if (!row || row.status === null) return 'running';
    const isEmpty = row.reply === null || row.reply === 'null';
    return { status: row.status, body: isEmpty ? null : new JsonText(row.reply ?? '') };
  };

  return {
    /** Returns null if the key is unused and the call may proceed. */
    begin: async (call: ReplayCall): Promise<KeptReply | 'running' | 'other_body' | null> => {
      await clearOnce();
      const row = { ...of(call), body_digest: digest(call.bodyDigest), created_at: now() };
      try {
        await store.transact([
          statement(removal(call).where('created_at', '<', iso(Date.parse(now()) - KEPT_MS))),
          statement(db.insertInto('idempotency').values({ ...row, status: null, reply: null })),
        ]);
        return null;
      } catch (error) {
        if (!(error instanceof Taken)) throw error;
        return kept(call);
      }
    },

    /** Stores the reply. null frees the key, so that a failed call may be tried again. */
    end: async (call: ReplayCall, reply: KeptReply | null): Promise<void> => {
      if (reply === null) {
        await removal(call).execute();
        return;
      }
      await updateRows(db, idempotencyTable, of(call))
        .set({ status: reply.status, reply: textOf(reply.body) })
        .execute();
    },
  };
};

const textOf = (body: unknown): string =>
  body instanceof JsonText ? body.text : JSON.stringify(body);
