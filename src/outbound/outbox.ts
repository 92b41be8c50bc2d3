import { sql } from 'kysely';
import type { Queue } from '../jobs/queue.js';
import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import type { Hub } from '../realtime/hub.js';
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
export interface Posting {
  statements: Statement[];
  published(): void;
}

/**
 * The only way to notify an owner. Every message is stored as a notification in the app, in the
 * transaction of its cause, so that it is neither lost nor doubled. From there it also goes to the
 * linked channels.
 */
export interface Outbox {
  toOwner(userId: string, message: Notice): Posting;
  /**
   * Stores the notification in the app and sends it nowhere else, because it is about the channels
   * themselves.
   */
  toApp(userId: string, message: Notice): Posting;
  send(userId: string, message: Notice): Promise<void>;
}

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

export const createOutbox = (deps: OutboxDeps): Outbox => {
  const { store, clock, hub, queue } = deps;

  const toApp = (userId: string, message: Notice) => {
    const now = clock.now();
    const { row, shown } = notificationOf(message, mint('notification', now), iso(now));
    const insert = store.db.insertInto('notifications').values({ ...row, user_id: userId });
    return {
      id: row.id,
      statements: [statement(insert.onConflict((on) => on.column('effect_id').doNothing()))],
      published: () => hub.publish(userId, 'notification', shown),
    };
  };

  const toOwner = (userId: string, message: Notice): Posting => {
    const { id, statements, published } = toApp(userId, message);
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
    toApp,
    send: async (userId, message) => {
      const posting = toOwner(userId, message);
      const [kept] = await store.transact(posting.statements);
      if (kept?.changes === 1) posting.published();
    },
  };
};

const notificationOf = (message: Notice, id: string, at: string) => {
  const shown = {
    id,
    kind: message.kind,
    title: short(message.title.replace(/\s+/g, ' ').trim() || message.kind, LONGEST_TITLE),
    body: short(message.body, LONGEST_BODY),
    link: message.link,
    readAt: null,
    createdAt: at,
  };
  const { readAt: read_at, createdAt: created_at, ...same } = shown;
  const effect_id = message.effectId ?? null;
  const { about = null, isDirect, hops = 0 } = message;
  const row = { ...same, about, read_at, created_at, effect_id, hops, direct: isDirect ? 1 : 0 };
  return { row, shown };
};

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
