import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import type { Hub } from '../realtime/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { procedureStep, type Store } from '../store/store.js';
import type { NoticeKind } from './noticekinds.js';
import type { NoticePosting } from './procedures/post.js';

export interface Notice {
  kind: NoticeKind;
  title: string;
  body: string;
  /** The body as Markdown, where it differs: text from outside is escaped in it. */
  markdown?: string | null;
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
  statements: TransactionStep[];
  published(): void;
}

/** The posting that sends nothing. */
export const NOTHING: QueuedMessage = { statements: [], published: () => undefined };

/** A notification for a procedure that stores it, and what to do after its commit. */
export interface PreparedNotice {
  posting: NoticePosting;
  published(): void;
}

export interface OutboxDeps {
  store: Store;
  clock: Clock;
  hub: Hub;
}

export const NOTICE_JOB = 'notice';
const MAX_TITLE_LENGTH = 200;
const MAX_BODY_LENGTH = 20_000;

/**
 * Creates the only way to notify an owner. Every message is stored as a notification in the app, in
 * the transaction of its cause, so that it is neither lost nor doubled. From there it also goes to
 * the linked channels.
 */
export const createOutbox = ({ store, clock, hub }: OutboxDeps) => {
  /** Returns the notification as the database stores it, and as its owner sees it live. */
  const noticeOf = (userId: string, message: Notice, isSent: boolean): PreparedNotice => {
    const now = clock.now();
    const { kind, link, about = null, isDirect, effectId: effect_id = null, hops = 0 } = message;
    const shown = {
      id: mint('notification', now),
      kind,
      title: short(message.title.replace(/\s+/g, ' ').trim() || kind, MAX_TITLE_LENGTH),
      body: short(message.body, MAX_BODY_LENGTH),
      link,
    };
    const created_at = iso(now);
    const markdown = message.markdown == null ? null : short(message.markdown, MAX_BODY_LENGTH);
    const direct = isDirect ? 1 : 0;
    const own = { user_id: userId, about, effect_id, hops, direct, markdown, created_at };
    const view = { ...shown, readAt: null, createdAt: created_at };
    return {
      posting: { notice: { ...shown, ...own }, isSent },
      published: () => hub.publish(userId, 'notification', view),
    };
  };

  const post = (...of: Parameters<typeof noticeOf>): QueuedMessage => {
    const { posting, published } = noticeOf(...of);
    return { statements: [procedureStep('postNotice', posting)], published };
  };

  return {
    noticeOf,
    toOwner: (userId: string, message: Notice): QueuedMessage => post(userId, message, true),
    /**
     * Stores the notification in the app and sends it nowhere else, because it is about the
     * channels themselves.
     */
    toApp: (userId: string, message: Notice): QueuedMessage => post(userId, message, false),
    send: async (userId: string, message: Notice): Promise<void> => {
      const { posting, published } = noticeOf(userId, message, true);
      if (await store.call('postNotice', posting)) published();
    },
  };
};

export type Outbox = ReturnType<typeof createOutbox>;

const short = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;
