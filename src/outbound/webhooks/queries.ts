import { type ExpressionBuilder, sql } from 'kysely';
import type { Clock } from '../../kernel/clock.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import { newestFirst, type Page, type PageInput } from '../../store/page.js';
import { changeInSteps, insertUpTo, selectCount, selectRows } from '../../store/rows.js';
import { isCommitted, type Store, statement } from '../../store/store.js';
import { type MessageStatus, type WebhookRow, webhookTable } from '../../store/tables/outbox.js';
import type { CredentialRow } from '../../store/tables/vault.js';
import type { Tables } from '../../store/tables.js';
import { unchangedSince } from '../../store/updateif.js';
import { visibleTo } from '../../store/visible.js';
import { dropWaiting, requeueMessage } from '../messages.js';
import { endSomeWaiting, endWaiting } from './disable.js';
import type { WebhookDeliveryRow, WebhookWithStats } from './view.js';

const deliveryColumns = [
  's.id',
  's.cause_id',
  's.kind',
  's.content',
  's.status',
  's.next_at',
  's.error',
  's.created_at',
  's.finished_at',
] as const;

/** Rows per transaction: about 5 ms of the writer thread. */
const STEP = 500;
const DELETE_STEP = `DELETE FROM sendings WHERE id IN (SELECT id FROM sendings
  WHERE webhook_id = ? AND status NOT IN ('queued', 'sending') ORDER BY id LIMIT ${STEP})`;

/** In steps; few are left for the transaction that deletes the webhook. */
const deleteEnded = async (store: Store, id: string): Promise<void> => {
  const all = store.db.selectFrom('sendings').select('id').where('webhook_id', '=', id);
  if (!(await all.offset(STEP).limit(1).executeTakeFirst())) return;
  await changeInSteps(store, [{ sql: DELETE_STEP, parameters: [id] }], { step: STEP });
};

const bareWebhook = ({ db }: Store, userId: string, id: string): Promise<WebhookRow | undefined> =>
  selectRows(db, webhookTable, { id }, visibleTo(userId)).executeTakeFirst();

export const webhooksStore = ({ store, clock }: { store: Store; clock: Clock }) => {
  const { db } = store;

  const webhooks = (userId: string) =>
    db
      .selectFrom('webhooks')
      .select(webhookTable.columns)
      .select((of) => [
        selectMessageCount(of, 'queued', 'sending').as('waiting'),
        selectMessageCount(of, 'sent').as('sent'),
        selectMessageCount(of, 'failed', 'unknown').as('failed'),
        selectNewestMessage(of).select('s.created_at').as('last_delivery_at'),
        selectNewestMessage(of).select('s.status').as('last_status'),
      ])
      .where(visibleTo(userId));

  const deliveries = (userId: string, webhookId: string) =>
    db
      .selectFrom('sendings as s')
      .select(deliveryColumns)
      .select(attempts)
      // The plus sign keeps SQLite from using the index on the owner.
      .where(sql`+s.user_id`, '=', userId)
      .where('s.webhook_id', '=', webhookId);

  return {
    list: (userId: string, page: PageInput): Promise<Page<WebhookWithStats>> =>
      newestFirst(webhooks(userId), page),

    get: (userId: string, id: string): Promise<WebhookWithStats | undefined> =>
      webhooks(userId).where('id', '=', id).executeTakeFirst(),

    /** Without statistics, which count all messages. */
    bare: (userId: string, id: string) => bareWebhook(store, userId, id),

    /** False at the limit. */
    insert: (row: WebhookRow, most: number, also: TransactionStep): Promise<boolean> => {
      const count = selectCount(db, webhookTable, { user_id: row.user_id });
      const insert = insertUpTo(db, webhookTable, row, { count, most });
      return isCommitted(store.transact([statement(insert, 1), also]));
    },

    /** False if it changed since it was read. */
    update: async (
      read: WebhookRow,
      changes: Partial<WebhookRow>,
      also: TransactionStep[],
    ): Promise<boolean> => {
      const { enabled, updated_at: at = read.updated_at } = changes;
      const isDisabling = enabled === 0 && read.enabled === 1;
      // Deliveries left by a kill must not be sent now.
      if (enabled === 1) await endWaiting(store, read.id, at);
      const change = db
        .updateTable('webhooks')
        .set({ ...changes, disabled_count: read.disabled_count + Number(isDisabling) })
        .where(visibleTo(read.user_id))
        .where('id', '=', read.id)
        .where(unchangedSince(read));
      const ended = enabled === 0 ? endSomeWaiting(read.id, at) : [];
      const isWritten = await isCommitted(
        store.transact([statement(change, 1), ...ended, ...also]),
      );
      if (isWritten && enabled === 0) await endWaiting(store, read.id, at);
      return isWritten;
    },

    /** False if not found. */
    delete: async (userId: string, id: string, also: TransactionStep): Promise<boolean> => {
      if (!(await bareWebhook(store, userId, id))) return false;
      await deleteEnded(store, id);
      const webhook = db.deleteFrom('webhooks').where(visibleTo(userId)).where('id', '=', id);
      return isCommitted(store.transact([statement(webhook, 1), dropWaiting(store, id), also]));
    },

    deliveries: (
      userId: string,
      webhookId: string,
      { status, ...page }: PageInput & { status?: MessageStatus },
    ): Promise<Page<WebhookDeliveryRow>> => {
      const all = deliveries(userId, webhookId);
      if (!status) return newestFirst(all, page);
      const having = all.where('s.status', '=', status);
      return newestFirst(status === 'sent' ? having : having.where(isUnarrived), page);
    },

    delivery: (
      userId: string,
      webhookId: string,
      id: string,
    ): Promise<WebhookDeliveryRow | undefined> =>
      deliveries(userId, webhookId).where('s.id', '=', id).executeTakeFirst(),

    /** False if it is already queued. */
    resend: ({ id }: WebhookDeliveryRow): Promise<boolean> => {
      const from: MessageStatus[] = ['sent', 'failed', 'unknown'];
      return isCommitted(store.transact(requeueMessage({ store, clock }, { id, from })));
    },

    works: async ({ user_id, id, url }: WebhookRow): Promise<void> => {
      await db
        .updateTable('webhooks')
        .set({ failing_since: null })
        .where(visibleTo(user_id))
        .where('id', '=', id)
        .where('url', '=', url)
        .execute();
    },

    credential: (
      userId: string,
      id: string,
    ): Promise<Pick<CredentialRow, 'id' | 'type'> | undefined> =>
      db
        .selectFrom('credentials')
        .select(['id', 'type'])
        .where(visibleTo(userId))
        .where('id', '=', id)
        .executeTakeFirst(),
  };
};

export type WebhooksStore = ReturnType<typeof webhooksStore>;

type WebhookExpressions = ExpressionBuilder<Tables, 'webhooks'>;

const selectMessages = (of: WebhookExpressions) =>
  of.selectFrom('sendings as s').whereRef('s.webhook_id', '=', 'webhooks.id');

const selectMessageCount = (of: WebhookExpressions, ...statuses: MessageStatus[]) =>
  of
    .selectFrom('webhook_counts as c')
    .whereRef('c.webhook_id', '=', 'webhooks.id')
    .where('c.status', 'in', statuses)
    .select(({ fn }) => fn.sum<number | null>('c.count').as('count'));

const selectNewestMessage = (of: WebhookExpressions) =>
  selectMessages(of).orderBy('s.id', 'desc').limit(1);

/** Matches the partial index literally. */
const isUnarrived = sql<boolean>`s.status <> 'sent'`;

const attempts = sql<string>`(
  SELECT json_group_array(json_object('number', a.number, 'at', a.at, 'durationMs', a.duration_ms,
    'statusCode', a.status, 'response', a.excerpt, 'error', a.error) ORDER BY a.number)
  FROM sending_attempts AS a WHERE a.sending_id = s.id)`.as('attempts');
