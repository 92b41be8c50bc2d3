import type { Store } from '../store/store.js';
import type { NoticeBatchRow } from '../store/tables/preferences.js';
import type { NoticeGroup } from './digesttext.js';

const AT_ONCE = 100;

/** `hops` is the maximum of the group. */
export type BatchGroup = NoticeGroup & { hops: number };

export const noticeBatchRows = ({ db }: Store) => ({
  /** Oldest first. */
  due: (now: string): Promise<NoticeBatchRow[]> =>
    db
      .selectFrom('notice_batches')
      .select(['id', 'user_id', 'kind', 'told', 'opened_at', 'closes_at'])
      .where('closes_at', '<=', now)
      .orderBy('closes_at')
      .limit(AT_ONCE)
      .execute(),

  nextClose: async (): Promise<string | null> => {
    const next = await db
      .selectFrom('notice_batches')
      .select('closes_at')
      .orderBy('closes_at')
      .limit(1)
      .executeTakeFirst();
    return next?.closes_at ?? null;
  },

  putOff: async (id: string, closesAt: string): Promise<void> => {
    await db
      .updateTable('notice_batches')
      .set({ closes_at: closesAt })
      .where('id', '=', id)
      .execute();
  },

  groups: (batchId: string): Promise<BatchGroup[]> =>
    db
      .selectFrom((of) =>
        of
          .selectFrom('held_notices as h')
          .innerJoin('notifications as n', 'n.id', 'h.notification_id')
          .select((each) => ['n.kind', 'n.about', each.fn.countAll<number>().as('count')])
          .select((each) => [each.fn.max('n.id').as('last'), each.fn.max('n.hops').as('hops')])
          .where('h.batch_id', '=', batchId)
          .groupBy(['n.kind', 'n.about'])
          .as('g'),
      )
      .innerJoin('notifications as newest', 'newest.id', 'g.last')
      .select(['g.kind', 'g.about', 'g.count', 'g.last', 'g.hops', 'newest.title', 'newest.body'])
      .orderBy('g.last')
      .execute(),

  /** Oldest first. */
  notices: (batchId: string, kinds: string[]) =>
    db
      .selectFrom('held_notices as h')
      .innerJoin('notifications as n', 'n.id', 'h.notification_id')
      .select(['n.id', 'n.kind', 'n.title', 'n.body', 'n.link', 'n.hops'])
      .where('h.batch_id', '=', batchId)
      .where('n.kind', 'in', kinds)
      .orderBy('n.id')
      .execute(),
});

export type NoticeBatchRows = ReturnType<typeof noticeBatchRows>;
