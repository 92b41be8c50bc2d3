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
  /** Body as Markdown with untrusted text escaped. */
  markdown?: string | null;
  /** API path of the subject. */
  link: string | null;
  /** Name of the subject; digests count by it. */
  about?: string;
  /** Constant over retries, so that a duplicate is stored and sent once. */
  effectId?: string;
  /** `notifyOwner`: sent to each channel at once, regardless of preferences. */
  isDirect?: boolean;
  /** How often the cause passed through this daemon. */
  hops?: number | undefined;
}

/** Statements of the transaction, and the action after its commit. */
export interface QueuedMessage {
  statements: TransactionStep[];
  published(): void;
}

export const EMPTY_POSTING: QueuedMessage = { statements: [], published: () => undefined };

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
 * The only way to notify an owner. Stored in the transaction of the cause, so it is neither lost
 * nor duplicated.
 */
export const createOutbox = ({ store, clock, hub }: OutboxDeps) => {
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
    /** App only, because it concerns the channels themselves. */
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
