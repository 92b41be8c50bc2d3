import { type Clock, iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import type { Statement } from '../../store/protocol.js';
import { type Store, statement } from '../../store/store.js';
import type { Hub } from '../realtime/hub.js';

export interface Message {
  kind: string;
  title: string;
  body: string;
  /** Path of the API that shows what it is about. */
  link: string | null;
  /** Constant over retries of the same effect: a repeat is kept, and told, once. */
  effectId?: string;
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
  toOwner(userId: string, message: Message): Posting;
  send(userId: string, message: Message): Promise<void>;
}

const LONGEST_TITLE = 200;
const LONGEST_BODY = 20_000;

export const createOutbox = (deps: { store: Store; clock: Clock; hub: Hub }): Outbox => {
  const { store, clock, hub } = deps;

  const toOwner = (userId: string, message: Message): Posting => {
    const now = clock.now();
    const row = {
      id: mint('notification', now),
      kind: message.kind,
      title: short(message.title.replace(/\s+/g, ' ').trim() || message.kind, LONGEST_TITLE),
      body: short(message.body, LONGEST_BODY),
      link: message.link,
      created_at: iso(now),
    };
    const values = { ...row, user_id: userId, effect_id: message.effectId ?? null, read_at: null };
    const insert = store.db.insertInto('notifications').values(values);
    return {
      statements: [statement(insert.onConflict((on) => on.column('effect_id').doNothing()))],
      published: () => {
        const { created_at: createdAt, ...rest } = row;
        hub.publish(userId, 'notification', { ...rest, readAt: null, createdAt });
      },
    };
  };

  return {
    toOwner,
    send: async (userId, message) => {
      const posting = toOwner(userId, message);
      const [kept] = await store.transact(posting.statements);
      if (kept?.changes === 1) posting.published();
    },
  };
};

const short = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;
