import { iso } from '../kernel/clock.js';
import { JsonText, type ReplayCall, type StoredReply } from '../kernel/contract/endpoint.js';
import type { RepeatedCall } from '../kernel/replay.js';
import { type Statement, UniqueViolation } from './engine/protocol.js';
import { deleteRows, selectRows, updateRows } from './rows.js';
import { type Store, statement } from './store.js';
import { idempotencyTable } from './tables/jobs.js';

const KEPT_MS = 24 * 3600 * 1000;

interface ReplayDeps {
  now(): string;
  /** Keyed, because a plain digest of a short secret could be reversed. */
  digest(bodyDigest: string): string;
}

/**
 * Kept for 24 hours. A call without a reply that is not running was interrupted and may have taken
 * effect: a `POST` is then refused, other methods are repeatable.
 */
export const replayStore = (store: Store, { now, digest }: ReplayDeps) => {
  const { db } = store;
  const underway = new Set<string>();

  const nameOf = ({ userId, route, key }: ReplayCall): string =>
    JSON.stringify([userId, route, key]);

  const of = ({ userId, route, key }: ReplayCall) => ({ user_id: userId, route, key });

  const removal = (call: ReplayCall) => deleteRows(db, idempotencyTable, of(call));

  const removalOfOld = (call: ReplayCall): Statement => {
    const before = iso(Date.parse(now()) - KEPT_MS);
    return statement(
      removal(call).where(({ eb, or }) =>
        or([
          eb('created_at', '<', before),
          ...(call.isRepeatable ? [eb('status', 'is', null)] : []),
        ]),
      ),
    );
  };

  const kept = async (call: ReplayCall): Promise<RepeatedCall> => {
    const isUnderway = underway.has(nameOf(call));
    const row = await selectRows(db, idempotencyTable, of(call)).executeTakeFirst();
    if (row && row.body_digest !== digest(call.bodyDigest)) return 'other_body';
    if (!row || isUnderway) return 'running';
    if (row.status === null) return 'lost';
    const isEmpty = row.reply === null || row.reply === 'null';
    return { status: row.status, body: isEmpty ? null : new JsonText(row.reply ?? '') };
  };

  return {
    begin: async (call: ReplayCall): Promise<RepeatedCall | null> => {
      const name = nameOf(call);
      if (underway.has(name)) return kept(call);
      underway.add(name);
      const row = { ...of(call), body_digest: digest(call.bodyDigest), created_at: now() };
      try {
        await store.transact([
          removalOfOld(call),
          statement(db.insertInto('idempotency').values({ ...row, status: null, reply: null })),
        ]);
        return null;
      } catch (error) {
        underway.delete(name);
        if (!(error instanceof UniqueViolation)) throw error;
        return kept(call);
      }
    },

    /** Null frees the key, so that a failed call may be retried. */
    end: async (call: ReplayCall, reply: StoredReply | null): Promise<void> => {
      try {
        if (reply === null) {
          await removal(call).execute();
          return;
        }
        await updateRows(db, idempotencyTable, of(call))
          .set({ status: reply.status, reply: serializeBody(reply.body) })
          .execute();
      } finally {
        underway.delete(nameOf(call));
      }
    },
  };
};

const serializeBody = (body: unknown): string =>
  body instanceof JsonText ? body.text : JSON.stringify(body);
