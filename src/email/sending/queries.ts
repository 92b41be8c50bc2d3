import { addJob, type Job, removeJob } from '../../jobs/module.js';
import type { Statement, TransactionStep } from '../../store/engine/protocol.js';
import { newestFirst, type PageInput } from '../../store/page.js';
import { insertUpTo, selectCount, selectRows, updateRows } from '../../store/rows.js';
import { type Store, statement, unmetStep } from '../../store/store.js';
import { type MailAccountRow, type SentMailRow, sentMailTable } from '../../store/tables/mail.js';
import { visibleTo } from '../../store/visible.js';

export const MAIL_JOB = 'mail';

interface MailAllowance {
  since: string;
  most: number;
}

const buildMailJob = ({ id, account_id: lane, created_at: runAt }: SentMailRow): Statement =>
  addJob({ kind: MAIL_JOB, ref: id, lane, runAt });

export const sentMailStore = (store: Store) => {
  const { db, transact, tryTransact } = store;
  const own = (userId: string, values: Partial<SentMailRow> = {}) =>
    selectRows(db, sentMailTable, values, visibleTo(userId));

  return {
    list: (
      userId: string,
      {
        accountId,
        status,
        ...page
      }: PageInput & { accountId?: string; status?: SentMailRow['status'] },
    ) => newestFirst(own(userId, { account_id: accountId, status }), page),

    get: (userId: string, id: string): Promise<SentMailRow | undefined> =>
      own(userId, { id }).executeTakeFirst(),

    byId: (id: string): Promise<SentMailRow | undefined> =>
      selectRows(db, sentMailTable, { id }).executeTakeFirst(),

    /** Resolves to the reason of a refusal: the limit, or a changed draft. */
    insert: async (
      row: SentMailRow,
      allowed: MailAllowance,
      also: TransactionStep[],
    ): Promise<'limit' | 'draft' | null> => {
      const ofUser = selectCount(db, sentMailTable, {}, visibleTo(row.user_id));
      const count = ofUser.where('created_at', '>', allowed.since);
      const unmet = await unmetStep(
        transact([
          statement(insertUpTo(db, sentMailTable, row, { count, most: allowed.most }), 1),
          ...(row.status === 'queued' ? [buildMailJob(row)] : []),
          ...also,
        ]),
      );
      if (unmet === null) return null;
      return unmet === 0 ? 'limit' : 'draft';
    },

    oldestSince: async (userId: string, since: string): Promise<string | undefined> =>
      (
        await db
          .selectFrom('mail_sent')
          .select('created_at')
          .where(visibleTo(userId))
          .where('created_at', '>', since)
          .orderBy('created_at')
          .limit(1)
          .executeTakeFirst()
      )?.created_at,

    /** False if the message is gone or a recipient bounced meanwhile. */
    settle: (
      { id, recipients }: SentMailRow,
      changes: Partial<SentMailRow>,
      also: TransactionStep[],
    ): Promise<boolean> => {
      const change = updateRows(db, sentMailTable, { id }).set(changes);
      const isOfRecipients = changes.recipients !== undefined;
      const step = isOfRecipients ? change.where('recipients', '=', recipients) : change;
      return tryTransact([statement(step, 1), ...also]);
    },

    isSuspended: async (userId: string): Promise<boolean> => {
      const user = db.selectFrom('users').where('id', '=', userId).select('disabled_at');
      return (await user.executeTakeFirst())?.disabled_at != null;
    },

    ...waitingMail(store),

    drop: (job: Job): Statement => removeJob(store, job.id),
    /** Resets the count of unexpected failures. */
    release: (job: Job, runAt: string): Statement =>
      statement(
        db
          .updateTable('jobs')
          .set({ boot: null, run_at: runAt, attempts: 0 })
          .where('id', '=', job.id),
        1,
      ),
    write: (steps: TransactionStep[]): Promise<unknown> => transact(steps),
  };
};

/** Each resolves to false if the message changed since it was read. */
const waitingMail = ({ db, tryTransact }: Store) => ({
  begin: ({ id, attempts }: SentMailRow): Promise<boolean> =>
    tryTransact([
      statement(
        updateRows(db, sentMailTable, { id, status: 'queued', attempts }).set({
          status: 'sending',
          attempts: attempts + 1,
          next_at: null,
        }),
        1,
      ),
    ]),

  /** Runs the job at once. */
  cancel: (
    { id, account_id: lane, attempts, recipients }: SentMailRow,
    changes: Partial<SentMailRow> & { finished_at: string },
    also: TransactionStep[],
  ): Promise<boolean> => {
    const waiting = { id, status: 'queued' as const, attempts, recipients };
    const jobs = db.updateTable('jobs').set({ run_at: changes.finished_at });
    return tryTransact([
      statement(updateRows(db, sentMailTable, waiting).set(changes), 1),
      statement(
        jobs
          .where('lane', '=', lane)
          .where('kind', '=', MAIL_JOB)
          .where('ref', '=', id)
          .where('boot', 'is', null),
      ),
      ...also,
    ]);
  },
});

export type SentMailStore = ReturnType<typeof sentMailStore>;

export const bouncedMailStore = ({ db }: Store) => ({
  byMessageId: (
    { id: account_id, user_id }: Pick<MailAccountRow, 'id' | 'user_id'>,
    ids: string[],
  ): Promise<SentMailRow | undefined> =>
    selectRows(db, sentMailTable, { account_id }, visibleTo(user_id))
      .where('message_id', 'in', ids)
      .executeTakeFirst(),

  /** Fails if the recipients changed. */
  change: ({ id, status, recipients }: SentMailRow, changes: Partial<SentMailRow>): Statement =>
    statement(updateRows(db, sentMailTable, { id, status, recipients }).set(changes), 1),
});

export type BouncedMailStore = ReturnType<typeof bouncedMailStore>;
