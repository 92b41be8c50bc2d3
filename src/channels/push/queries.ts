import { dropWaiting } from '../../outbound/module.js';
import type { Statement, TransactionStep } from '../../store/engine/protocol.js';
import { newestFirst, type Page, type PageInput } from '../../store/page.js';
import { isCommitted, type Store, statement } from '../../store/store.js';
import type { channelTable } from '../../store/tables/channels.js';
import type { Row } from '../../store/tables/table.js';
import { visibleTo } from '../../store/visible.js';

type ChannelColumns = Row<typeof channelTable>;
export type PushRow = Pick<ChannelColumns, 'id' | 'user_id' | 'sender_name' | 'url' | 'created_at'>;
export type NewPushRow = PushRow &
  Pick<ChannelColumns, 'kind' | 'sender_id' | 'verified_at' | 'secret_sealed'>;

export const MAX_SUBSCRIPTIONS = 10;

export const pushStore = (store: Store) => {
  const { db } = store;
  const own = (userId: string) =>
    db.selectFrom('channels').where(visibleTo(userId)).where('kind', '=', 'push');
  return {
    list: (userId: string, page: PageInput): Promise<Page<PushRow>> =>
      newestFirst(own(userId).select(['id', 'user_id', 'sender_name', 'url', 'created_at']), page),

    /**
     * Replaces earlier subscriptions of the browser, also of other users. Resolves to false if the
     * user has ten.
     */
    subscribe: (row: NewPushRow, also: TransactionStep[]): Promise<boolean> => {
      const earlier = db
        .deleteFrom('channels')
        .where('kind', '=', 'push')
        .where('sender_id', '=', row.sender_id);
      const count = own(row.user_id).select((of) => of.fn.countAll().as('count'));
      const insert = db
        .insertInto('channels')
        .columns(COLUMNS)
        .expression(
          db
            .selectNoFrom((of) => COLUMNS.map((name) => of.val(row[name]).as(name)))
            .where(count, '<', MAX_SUBSCRIPTIONS),
        );
      return isCommitted(store.transact([statement(earlier), statement(insert, 1), ...also]));
    },

    end: (userId: string, id: string): Statement[] => [
      statement(db.deleteFrom('channels').where(visibleTo(userId)).where('id', '=', id)),
      dropWaiting(store, id),
    ],

    find: (userId: string, id: string) =>
      own(userId).select(['id', 'url', 'secret_sealed']).where('id', '=', id).executeTakeFirst(),
  };
};

export type PushStore = ReturnType<typeof pushStore>;

const COLUMNS = [
  'id',
  'user_id',
  'kind',
  'sender_id',
  'sender_name',
  'verified_at',
  'url',
  'secret_sealed',
  'created_at',
] as const;
