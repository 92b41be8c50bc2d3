import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import { createRate } from '../kernel/rate.js';
import type { Outbox } from '../outbound/module.js';
import {
  ExpectationFailed,
  type TransactionStep,
  UniqueViolation,
} from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { ChannelKind, ChannelRow, LinkCodeRow } from '../store/tables/channels.js';
import { newCode, readCode } from './code.js';
import { freeTextUntil } from './freetext.js';
import { ACTS_AS_USER, type ChannelSender, senderDisplayName } from './sender.js';
import { findBoundChannel, moveChannel, type SenderIds, storeSenderIds } from './senderids.js';

export interface LinksDeps {
  store: Store;
  clock: Clock;
  outbox: Outbox;
  /** Keyed, since a plain digest of 30 bits can be reversed. */
  digestCode(code: string): string;
}

/** Shown only once; its digest is stored. */
export interface LinkCode {
  code: string;
  expiresAt: string;
}

type FurtherSteps = (row: ChannelRow) => TransactionStep[];

export interface LinkedChannel {
  id: string;
  userId: string;
  kind: ChannelKind;
  sessionId: string | null;
}

const LIFE_MS = 5 * 60_000;
const MAX_TRIES_PER_SENDER = 5;
/**
 * Limit for all senders of a kind, since some platforms give out accounts for free. With 30 bits,
 * the chance to guess a code in its lifetime is 1 in 3 million. A user locked out by a flood can
 * link in the other direction.
 */
const MAX_TRIES_PER_KIND = 60;

/** `also` is committed in the same transaction. */
export const createLinks = (deps: LinksDeps) => {
  const { store, clock } = deps;
  const perSender = createRate(MAX_TRIES_PER_SENDER, clock);
  const perKind = createRate(MAX_TRIES_PER_KIND, clock);
  const refuseFlood = ({ kind, id }: ChannelSender): void => {
    if (perSender.take(`${kind} ${id}`)?.isSpent) throw new LinkRefused('too_many_tries');
  };

  const channelOf = async (sender: SenderIds): Promise<LinkedChannel | null> => {
    const bound = await findBoundChannel(store, sender);
    if (!bound?.verified_at || bound.disabled_at !== null) return null;
    await storeSenderIds(store, bound, sender);
    const { id, user_id: userId, session_id: sessionId } = bound;
    return { id, userId, kind: sender.kind, sessionId };
  };

  return {
    /**
     * For `/link` of an authenticated sender. Throws LinkRefused `already_linked` or
     * `too_many_tries`.
     */
    makeCode: async (sender: ChannelSender): Promise<LinkCode> => {
      refuseFlood(sender);
      if (await findBoundChannel(store, sender)) throw new LinkRefused('already_linked');
      const { kind, id: sender_id } = sender;
      const sender_name = senderDisplayName(sender);
      return keepCode(deps, { user_id: null, kind, sender_id, sender_name, asked_by: null });
    },
    /** For `/link <code>`. Throws LinkRefused. */
    redeemFrom: async (
      sender: ChannelSender,
      typed: string,
      also?: FurtherSteps,
    ): Promise<ChannelRow> => {
      refuseFlood(sender);
      if (perKind.take(sender.kind)?.isSpent) throw new LinkRefused('too_many_tries');
      const spent = await findCode(deps, typed);
      if (spent.user_id === null) throw new LinkRefused('wrong_code');
      return link(deps, { userId: spent.user_id, sender, spent, also });
    },
    /** null if the sender is not linked or the owner is disabled. */
    channelOf,
    channelById: async (id: string): Promise<LinkedChannel | null> => {
      const row = await store.db
        .selectFrom('channels')
        .select(['kind', 'sender_id'])
        .where('id', '=', id)
        .executeTakeFirst();
      return row ? channelOf({ kind: row.kind, id: row.sender_id }) : null;
    },
    userOf: async (sender: SenderIds): Promise<string | null> =>
      (await channelOf(sender))?.userId ?? null,
    /** Notifies the owner: the old number may belong to another person soon. */
    move: (from: SenderIds, to: Pick<ChannelSender, 'id' | 'otherId'>): Promise<void> =>
      moveChannel(deps, from, to),
    /** Replaces the previous code. */
    codeFor: (userId: string, also?: TransactionStep[]): Promise<LinkCode> =>
      keepCode(
        deps,
        { user_id: userId, kind: null, sender_id: null, sender_name: null, asked_by: null },
        also,
      ),
    /** Only this user can redeem it. */
    codeTo: (userId: string, address: ChannelSender): Promise<LinkCode> => {
      const { kind, id: sender_id } = address;
      const sender_name = senderDisplayName(address);
      return keepCode(deps, { user_id: null, kind, sender_id, sender_name, asked_by: userId });
    },
    /** Throws LinkRefused `wrong_code`. */
    senderOf: async (
      userId: string,
      typed: string,
    ): Promise<ChannelSender & { expiresAt: string }> => {
      const { sender, code } = await findSenderCode(deps, userId, typed);
      return { ...sender, expiresAt: code.expires_at };
    },
    /** Throws LinkRefused `wrong_code` or `already_linked`. */
    redeem: async (userId: string, typed: string, also?: FurtherSteps): Promise<ChannelRow> => {
      const { sender, code } = await findSenderCode(deps, userId, typed);
      return link(deps, { userId, sender, spent: code, also });
    },
  };
};

export type Links = ReturnType<typeof createLinks>;

/** Throws LinkRefused `wrong_code`. */
const findSenderCode = async (
  deps: LinksDeps,
  userId: string,
  typed: string,
): Promise<{ sender: ChannelSender; code: LinkCodeRow }> => {
  const code = await findCode(deps, typed);
  const { kind, sender_id: id, sender_name: name, asked_by } = code;
  const isForOther = asked_by !== null && asked_by !== userId;
  if (kind === null || id === null || name === null || isForOther) {
    throw new LinkRefused('wrong_code');
  }
  return { sender: { kind, id, name }, code };
};

/** Throws LinkRefused `wrong_code`. */
const findCode = async (
  { store, clock, digestCode }: LinksDeps,
  typed: string,
): Promise<LinkCodeRow> => {
  const code = readCode(typed);
  if (code === null) throw new LinkRefused('wrong_code');
  const row = await store.db
    .selectFrom('link_codes')
    .select(['code_digest', 'user_id', 'kind', 'sender_id', 'sender_name', 'expires_at'])
    .select('asked_by')
    .where('code_digest', '=', digestCode(code))
    .where('expires_at', '>', iso(clock.now()))
    .executeTakeFirst();
  if (!row) throw new LinkRefused('wrong_code');
  return row;
};

/** A user or a sender. */
type CodeMaker = Omit<LinkCodeRow, 'code_digest' | 'expires_at'>;

/** Replaces the last code of the maker and deletes expired codes. */
const keepCode = async (
  deps: LinksDeps,
  maker: CodeMaker,
  also: TransactionStep[] = [],
): Promise<LinkCode> => {
  const { store, clock, digestCode } = deps;
  const code = newCode();
  const now = clock.now();
  const expiresAt = iso(now + LIFE_MS);
  const row = { ...maker, code_digest: digestCode(code), expires_at: expiresAt };
  const insert = store.db.insertInto('link_codes').values(row);
  const [, , stored] = await store.transact([
    statement(store.db.deleteFrom('link_codes').where('expires_at', '<=', iso(now))),
    statement(deleteLinkCodes(store, maker)),
    // A valid code of another maker is not replaced. A collision is one in 10^9.
    statement(insert.onConflict((on) => on.column('code_digest').doNothing())),
    ...also,
  ]);
  return stored?.changes === 1 ? { code, expiresAt } : keepCode(deps, maker);
};

const deleteLinkCodes = (
  { db }: Store,
  { user_id, kind, sender_id }: Pick<CodeMaker, 'user_id' | 'kind' | 'sender_id'>,
) =>
  db
    .deleteFrom('link_codes')
    .where('user_id', 'is', user_id)
    .where('kind', 'is', kind)
    .where('sender_id', 'is', sender_id);

/** True if messages written there are received. */
const receivesMessages = (kind: ChannelKind): boolean => kind !== 'ntfy' && kind !== 'email';
const RECEIVES_NOTIFICATIONS = 'Your notifications are sent to it.';

interface LinkRequest {
  userId: string;
  sender: ChannelSender;
  spent: LinkCodeRow;
  also?: FurtherSteps;
}

/** Spends the code in the same transaction, so one of two simultaneous attempts wins. */
const link = async (
  deps: LinksDeps,
  { userId, sender, spent, also }: LinkRequest,
): Promise<ChannelRow> => {
  const { store } = deps;
  const row = newChannel(deps.clock.now(), userId, sender);
  // The sender wrote just now, or a few minutes ago for their own code.
  const open_until = freeTextUntil(sender.kind, deps.clock.now());
  const { kind, sender_id, sender_name } = row;
  const message = deps.outbox.toOwner(userId, {
    kind: 'channel.linked',
    title: `${sender_name} on ${kind} was linked to your account`,
    body: `${receivesMessages(kind) ? ACTS_AS_USER : RECEIVES_NOTIFICATIONS} If you did not link it, remove it: adjutant channels delete ${row.id.slice(-6)}`,
    link: '/api/channels',
  });
  const code = deleteLinkCodes(store, spent)
    .where('code_digest', '=', spent.code_digest)
    .where('expires_at', '>', row.created_at);
  try {
    await store.transact([
      statement(code, 1),
      statement(store.db.insertInto('channels').values({ ...row, open_until }), 1),
      statement(deleteLinkCodes(store, { user_id: null, kind, sender_id })),
      ...message.statements,
      ...(also?.(row) ?? []),
    ]);
  } catch (error) {
    if (error instanceof ExpectationFailed) throw new LinkRefused('wrong_code');
    if (error instanceof UniqueViolation) throw new LinkRefused('already_linked');
    throw error;
  }
  message.published();
  return row;
};

const newChannel = (now: number, userId: string, sender: ChannelSender) => ({
  id: mint('channel', now),
  user_id: userId,
  kind: sender.kind,
  sender_id: sender.id,
  sender_name: senderDisplayName(sender),
  other_id: sender.otherId ?? null,
  // Showing a code in the channel proves that it belongs to the sender.
  verified_at: iso(now),
  created_at: iso(now),
});

const REASONS = {
  wrong_code: 'The code is invalid, expired or already used',
  already_linked: 'The sender is already linked to an account',
  too_many_tries: 'Too many attempts. Try again in a minute',
};

/** Nothing was changed. */
export class LinkRefused extends Error {
  override name = 'LinkRefused';

  constructor(readonly reason: keyof typeof REASONS) {
    super(REASONS[reason]);
  }
}
