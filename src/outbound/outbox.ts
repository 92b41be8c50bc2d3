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
  /** Path of the API that shows what it is about. */
  link: string | null;
  /** What it is about, in a word: many of a kind are counted by it. */
  about?: string;
  /** Constant over retries of the same effect: a repeat is kept, and told, once. */
  effectId?: string;
  /** What a hook says with `notifyOwner`: to each channel and at once, whatever is preferred. */
  isDirect?: boolean;
  /** How often what it is about came back to this daemon. */
  hops?: number | undefined;
}

/** A message as part of somebody's transaction, and what to do after its commit. */
export interface Posting {
  statements: Statement[];
  published(): void;
}

/**
 * The one way by which the owner is told something. Every message is kept as a notification in
 * the app, in the transaction of what it tells about, so it is neither lost nor doubled; the
 * linked channels come on top, from the same place.
 */
export interface Outbox {
  toOwner(userId: string, message: Notice): Posting;
  /** Kept in the app and told nowhere else: what is about the channels themselves. */
  toApp(userId: string, message: Notice): Posting;
  send(userId: string, message: Notice): Promise<void>;
}

export interface OutboxDeps {
  store: Store;
  clock: Clock;
  hub: Hub;
  /** Of what leaves. */
  queue: Pick<Queue, 'added'>;
}

export const NOTICE_JOB = 'notice';
const LONGEST_TITLE = 200;
const LONGEST_BODY = 20_000;

/** What is to leave for the owner's targets waits here until it is known which those are. */
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

/** Only where the notification was kept, and its owner has a channel that it could go to. */
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
