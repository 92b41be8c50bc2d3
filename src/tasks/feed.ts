import { createHash, randomBytes } from 'node:crypto';
import Boom from '@hapi/boom';
import { type Clock, iso } from '../kernel/clock.js';
import type { Recorder } from '../kernel/contract/audit.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import { type Store, statement } from '../store/store.js';
import { visibleTo } from '../store/visible.js';
import { renderTaskCalendar } from './calendar.js';
import type { TasksStore } from './queries.js';

export interface TaskFeedDeps {
  store: Store;
  clock: Clock;
  tasks: Pick<TasksStore, 'feed'>;
}

/** 256 bits, with a prefix that secret scanners recognize. */
const newToken = (): string => `adj_feed_${randomBytes(32).toString('base64url')}`;
const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');

const MAX_TASKS = 500;

type FeedCaller = Pick<Caller & Recorder, 'userId' | 'record'>;

/** Only the hash of the token is stored. */
export const createTaskFeed = ({ store, clock, tasks }: TaskFeedDeps) => ({
  make: async ({ userId, record }: FeedCaller): Promise<string> => {
    const token = newToken();
    const columns = { token_hash: hashToken(token), created_at: iso(clock.now()) };
    const upsert = store.db
      .insertInto('task_feeds')
      .values({ user_id: userId, ...columns })
      .onConflict((on) => on.column('user_id').doUpdateSet(columns));
    await store.transact([statement(upsert, 1), record()]);
    return token;
  },

  /** Throws 404 if there is no token. */
  end: async ({ userId, record }: FeedCaller): Promise<void> => {
    const ended = store.db.deleteFrom('task_feeds').where(visibleTo(userId));
    const isEnded = await store.tryTransact([statement(ended, 1), record()]);
    if (!isEnded) throw Boom.notFound('You have no calendar feed address');
  },

  /** Throws 404 if the token is unknown or its user is disabled. */
  read: async (token: string): Promise<string> => {
    const feed = await store.db
      .selectFrom('task_feeds as f')
      .innerJoin('users as u', 'u.id', 'f.user_id')
      .select('f.user_id')
      .where('f.token_hash', '=', hashToken(token))
      .where('u.disabled_at', 'is', null)
      .executeTakeFirst();
    if (!feed)
      throw Boom.notFound(
        'This calendar feed address does not exist. Create a new address with: adjutant tasks feed create',
      );
    return renderTaskCalendar(await tasks.feed(feed.user_id, MAX_TASKS));
  },
});

export type TaskFeed = ReturnType<typeof createTaskFeed>;
