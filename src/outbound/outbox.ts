import { sql } from 'kysely';
import type { Queue } from '../jobs/module.js';
import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import type { Hub } from '../realtime/module.js';
import type { Statement } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { NoticeKind } from './noticekinds.js';

export interface Notice {
  kind: NoticeKind;
  title: string;
  body: string;
  /** The path of the API that shows the subject of the notification. */
  link: string | null;
  /** The name of the subject; a digest counts notifications by it. */
  about?: string;
  /** Constant over retries of the same effect, so that a duplicate is stored and sent once. */
  effectId?: string;
  /**
   * True for a notification of a hook with `notifyOwner`: it goes to each channel at once, whatever
   * the preferences.
   */
  isDirect?: boolean;
  /** The number of times that its cause came back to this daemon. */
  hops?: number | undefined;
}

/** A message as part of the caller's transaction, and what to do after its commit. */
export interface QueuedMessage {
  statements: Statement[];
  published(): void;
}

/** The posting that sends nothing. */
export const NOTHING: QueuedMessage = { statements: [], published: () => undefined };

export interface OutboxDeps {
  store: Store;
  clock: Clock;
  hub: Hub;
  /** The outbound queue. */
  queue: Pick<Queue, 'added'>;
}

export const NOTICE_JOB = 'notice';
const LONGEST_TITLE = 200;
const LONGEST_BODY = 20_000;

/**
 * Returns the owner's lane, in which notifications and events wait until their targets are known.
 */
export const ownerLane = (userId: string): string => `owner_${userId}`;

/**
 * Creates the only way to notify an owner. Every message is stored as a notification in the app, in
 * the transaction of its cause, so that it is neither lost nor doubled. From there it also goes to
 * the linked channels.
 */
export const createOutbox = ({ store, clock, hub, queue }: OutboxDeps) => {
  const post = (userId: string, message: Notice) => {
    const now = clock.now();
    const { kind, link, about = null, isDirect, effectId: effect_id = null, hops = 0 } = message;
    const shown = {
      id: mint('notification', now),
      kind,
      title: short(message.title.replace(/\s+/g, ' ').trim() || kind, LONGEST_TITLE),
      body: short(message.body, LONGEST_BODY),
      link,
      read_at: null,
      created_at: iso(now),
    };
    const { read_at: readAt, created_at: createdAt, ...plain } = shown;
    const view = { ...plain, readAt, createdAt };
    const own = { user_id: userId, about, effect_id, hops, direct: isDirect ? 1 : 0 };
    const insert = store.db.insertInto('notifications').values({ ...shown, ...own });
    return {
      id: shown.id,
      statements: [statement(insert.onConflict((on) => on.column('effect_id').doNothing()))],
      published: () => hub.publish(userId, 'notification', view),
    };
  };

  const toOwner = (userId: string, message: Notice): QueuedMessage => {
    const { id, statements, published } = post(userId, message);
    return {
      statements: [...statements, addNoticeJob(store, id)],
      published: () => {
        published();
        queue.added(ownerLane(userId));
      },
    };
  };

  return {
    toOwner,
    /**
     * Stores the notification in the app and sends it nowhere else, because it is about the
     * channels themselves.
     */
    toApp: (userId: string, message: Notice): QueuedMessage => post(userId, message),
    send: async (userId: string, message: Notice): Promise<void> => {
      const posting = toOwner(userId, message);
      const [kept] = await store.transact(posting.statements);
      if (kept?.changes === 1) posting.published();
    },
  };
};

export type Outbox = ReturnType<typeof createOutbox>;

/**
 * Builds the statement that adds the fan-out job, only if the notification was stored and its owner
 * has a verified channel.
 */
const addNoticeJob = ({ db }: Store, id: string): Statement => {
  const job = db
    .selectFrom('notifications as n')
    .select((of) => [of.val(NOTICE_JOB).as('kind'), 'n.id'])
    .select(sql<string>`'owner_' || n.user_id`.as('lane'))
    .select('n.created_at')
    .where('n.id', '=', id)
    .where((of) =>
      of.exists(
        of
          .selectFrom('channels as c')
          .select('c.id')
          .whereRef('c.user_id', '=', 'n.user_id')
          .where('c.verified_at', 'is not', null),
      ),
    );
  return statement(
    db.insertInto('jobs').columns(['kind', 'ref', 'lane', 'run_at']).expression(job),
  );
};

const short = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;
