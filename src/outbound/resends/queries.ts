import { sql } from 'kysely';
import { timeDigits } from '../../kernel/ids.js';
import type { CountedItems } from '../../operations/module.js';
import type { Store } from '../../store/store.js';
import { visibleTo } from '../../store/visible.js';

export interface UndeliveredFilter {
  /** null: channels of all users. */
  webhooksOf: string | null;
  /** null: all. */
  targetId: string | null;
  status: ('failed' | 'unknown')[];
  /** Range of creation times, ISO 8601. */
  since: string | null;
  until: string | null;
  /** Absent in operations of earlier versions. */
  failedBy?: string;
  /** Only messages with a lower id. */
  before: string;
}

type ResendSkip = 'disabled';

/** Matches the partial indexes literally. */
const hasFailed = sql<boolean>`s.status IN ('failed', 'unknown')`;

const columns = ['s.id', 's.status', 's.error', 's.created_at as createdAt'] as const;

export const undeliveredStore = ({ db }: Store) => {
  const toWebhooks = (userId: string) =>
    db
      .selectFrom('webhooks as t')
      .innerJoin('sendings as s', 's.webhook_id', 't.id')
      .select(columns)
      .select(['t.id as partId', 't.name as target'])
      .select(sql<ResendSkip | null>`iif(t.enabled = 1, NULL, 'disabled')`.as('skipped'))
      .where(visibleTo(userId, 't'))
      .where('s.webhook_id', 'is not', null);

  const toChannels = () =>
    db
      .selectFrom('channels as t')
      .innerJoin('users as u', 'u.id', 't.user_id')
      .innerJoin('sendings as s', 's.channel_id', 't.id')
      .select(columns)
      .select(['t.id as partId', sql<string>`t.kind || ' of ' || u.username`.as('target')])
      .select(sql<ResendSkip | null>`iif(u.disabled_at IS NULL, NULL, 'disabled')`.as('skipped'))
      .where('s.channel_id', 'is not', null);

  const undelivered = (filter: UndeliveredFilter) => {
    const { webhooksOf, targetId, status, since, until, before, failedBy } = filter;
    let found = (webhooksOf === null ? toChannels() : toWebhooks(webhooksOf))
      .where(hasFailed)
      .where('s.status', 'in', status)
      .where('s.id', '<', before);
    // The first condition is fast; the second is exact if the clock was set back.
    if (since !== null) {
      found = found
        .where('s.id', '>=', `sending_${timeDigits(Date.parse(since))}`)
        .where('s.created_at', '>=', since);
    }
    if (until !== null) found = found.where('s.created_at', '<=', until);
    if (failedBy) found = found.where('s.finished_at', '<=', failedBy);
    return targetId === null ? found : found.where('t.id', '=', targetId);
  };

  return {
    /** Counts by target and reason to skip. */
    count: (filter: UndeliveredFilter): Promise<CountedItems[]> =>
      db
        .selectFrom(undelivered(filter).as('m'))
        .select(['m.partId as lane', 'm.target as name', 'm.skipped as reason'])
        .select(({ fn }) => [
          fn.countAll<number>().as('count'),
          fn.min('m.createdAt').as('oldest'),
          fn.max('m.createdAt').as('newest'),
        ])
        .groupBy(['m.partId', 'm.target', 'm.skipped'])
        .execute(),

    channel: (id: string) =>
      db.selectFrom('channels').select('id').where('id', '=', id).executeTakeFirst(),

    first: (filter: UndeliveredFilter, limit: number) =>
      db
        .selectFrom(undelivered(filter).as('m'))
        .select(['m.id', 'm.partId', 'm.status', 'm.error', 'm.skipped', 'm.createdAt'])
        .orderBy('m.id')
        .limit(limit)
        .execute(),

    after: (
      filter: UndeliveredFilter,
      targetId: string,
      { after, limit }: { after: string; limit: number },
    ) =>
      undelivered({ ...filter, targetId })
        .where('s.id', '>', after)
        .orderBy('s.id')
        .limit(limit)
        .execute(),
  };
};

export type UndeliveredStore = ReturnType<typeof undeliveredStore>;
