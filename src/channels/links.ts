import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import { createRate } from '../kernel/rate.js';
import type { Outbox } from '../outbound/outbox.js';
import { Taken, type TransactionStep, Unmet } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { ChannelKind, ChannelRow, LinkCodeRow } from '../store/tables/channels.js';
import { newCode, readCode } from './code.js';
import { LinkRefused } from './refusal.js';
import { type ChannelSender, shownName } from './sender.js';

export interface LinksDeps {
  store: Store;
  clock: Clock;
  outbox: Outbox;
  /** Keyed: of 30 bits a bare digest hides nothing. */
  digestCode(code: string): string;
}

/** Shown once: only its digest is kept. */
export interface LinkCode {
  code: string;
  expiresAt: string;
}

/** What a handler of inbound messages may ask, for a sender that its platform proved. */
export interface SenderLinks {
  /** A code for `/link`. LinkRefused: already_linked, too_many_tries. */
  makeCode(sender: ChannelSender): Promise<LinkCode>;
  /** `/link <code>`: the sender is the user's from here on. LinkRefused: any of its reasons. */
  redeemFrom(sender: ChannelSender, code: string, also?: Also): Promise<ChannelRow>;
  /** Whose words the sender's are; null: nobody's, or of an account that is disabled. */
  userOf(sender: Pick<ChannelSender, 'kind' | 'id'>): Promise<string | null>;
  /** The same, with the channel that they come by. */
  channelOf(sender: Pick<ChannelSender, 'kind' | 'id'>): Promise<LinkedChannel | null>;
}

type Also = (row: ChannelRow) => TransactionStep[];

export interface LinkedChannel {
  id: string;
  userId: string;
  kind: ChannelKind;
  /** The conversation that goes on there. */
  sessionId: string | null;
}

export interface Links extends SenderLinks {
  /**
   * A code that the user sends from a channel. It takes the place of the one before. Here and below
   * `also` is written with it or not at all.
   */
  codeFor(userId: string, also?: TransactionStep[]): Promise<LinkCode>;
  /** Who made the code. LinkRefused: wrong_code. */
  senderOf(code: string): Promise<ChannelSender & { expiresAt: string }>;
  /** The maker of the code is the user's from here on. LinkRefused: wrong_code, already_linked. */
  redeem(userId: string, code: string, also?: Also): Promise<ChannelRow>;
}

const LIFE_MS = 5 * 60_000;
const TRIES_PER_SENDER = 5;
/**
 * Ours: of all senders of a kind, since some platforms give out senders for nothing. With 30 bits
 * a code is guessed in its life once in 3 million times; who is kept out by a flood can link the
 * other way round.
 */
const TRIES_PER_KIND = 60;

export const createLinks = (deps: LinksDeps): Links => {
  const { store, clock } = deps;
  const perSender = createRate(TRIES_PER_SENDER, clock);
  const perKind = createRate(TRIES_PER_KIND, clock);
  const refuseFlood = ({ kind, id }: ChannelSender): void => {
    if (perSender.take(`${kind} ${id}`)?.isSpent) throw new LinkRefused('too_many_tries');
  };

  const channelOf: Links['channelOf'] = async (sender) => {
    const bound = await boundTo(store, sender);
    if (!bound?.verified_at || bound.disabled_at !== null) return null;
    const { id, user_id: userId, session_id: sessionId } = bound;
    return { id, userId, kind: sender.kind, sessionId };
  };

  const made = async (typed: string): Promise<{ sender: ChannelSender; code: LinkCodeRow }> => {
    const code = await findCode(deps, typed);
    const { kind, sender_id: id, sender_name: name } = code;
    if (kind === null || id === null || name === null) throw new LinkRefused('wrong_code');
    return { sender: { kind, id, name }, code };
  };

  return {
    makeCode: async (sender) => {
      refuseFlood(sender);
      if (await boundTo(store, sender)) throw new LinkRefused('already_linked');
      const { kind, id: sender_id } = sender;
      return keepCode(deps, { user_id: null, kind, sender_id, sender_name: shownName(sender) });
    },
    redeemFrom: async (sender, typed, also) => {
      refuseFlood(sender);
      if (perKind.take(sender.kind)?.isSpent) throw new LinkRefused('too_many_tries');
      const spent = await findCode(deps, typed);
      if (spent.user_id === null) throw new LinkRefused('wrong_code');
      return link(deps, { userId: spent.user_id, sender, spent, also });
    },
    channelOf,
    userOf: async (sender) => (await channelOf(sender))?.userId ?? null,
    codeFor: (userId, also) =>
      keepCode(deps, { user_id: userId, kind: null, sender_id: null, sender_name: null }, also),
    senderOf: async (typed) => {
      const { sender, code } = await made(typed);
      return { ...sender, expiresAt: code.expires_at };
    },
    redeem: async (userId, typed, also) => {
      const { sender, code } = await made(typed);
      return link(deps, { userId, sender, spent: code, also });
    },
  };
};

const boundTo = ({ db }: Store, { kind, id }: { kind: ChannelKind; id: string }) =>
  db
    .selectFrom('channels as c')
    .innerJoin('users as u', 'u.id', 'c.user_id')
    .select(['c.id', 'c.user_id', 'c.session_id', 'c.verified_at', 'u.disabled_at'])
    .where('c.kind', '=', kind)
    .where('c.sender_id', '=', id)
    .executeTakeFirst();

/** LinkRefused: wrong_code. */
const findCode = async (
  { store, clock, digestCode }: LinksDeps,
  typed: string,
): Promise<LinkCodeRow> => {
  const code = readCode(typed);
  if (code === null) throw new LinkRefused('wrong_code');
  const row = await store.db
    .selectFrom('link_codes')
    .select(['code_digest', 'user_id', 'kind', 'sender_id', 'sender_name', 'expires_at'])
    .where('code_digest', '=', digestCode(code))
    .where('expires_at', '>', iso(clock.now()))
    .executeTakeFirst();
  if (!row) throw new LinkRefused('wrong_code');
  return row;
};

/** A user, or a sender. */
type Maker = Omit<LinkCodeRow, 'code_digest' | 'expires_at'>;

/** In the place of the maker's last one; those that are over are forgotten. */
const keepCode = async (
  deps: LinksDeps,
  maker: Maker,
  also: TransactionStep[] = [],
): Promise<LinkCode> => {
  const { store, clock, digestCode } = deps;
  const code = newCode();
  const now = clock.now();
  const expiresAt = iso(now + LIFE_MS);
  const row = { ...maker, code_digest: digestCode(code), expires_at: expiresAt };
  const insert = store.db.insertInto('link_codes').values(row);
  const [, , kept] = await store.transact([
    statement(store.db.deleteFrom('link_codes').where('expires_at', '<=', iso(now))),
    statement(codesOf(store, maker)),
    // Another's live code stays theirs, which happens once in a thousand million times.
    statement(insert.onConflict((on) => on.column('code_digest').doNothing())),
    ...also,
  ]);
  return kept?.changes === 1 ? { code, expiresAt } : keepCode(deps, maker);
};

const codesOf = ({ db }: Store, { user_id, kind, sender_id }: Omit<Maker, 'sender_name'>) =>
  db
    .deleteFrom('link_codes')
    .where('user_id', 'is', user_id)
    .where('kind', 'is', kind)
    .where('sender_id', 'is', sender_id);

interface Linking {
  userId: string;
  sender: ChannelSender;
  spent: LinkCodeRow;
  also?: Also;
}

/** The code is spent in the transaction of what it does: of two at once, one wins. */
const link = async (
  deps: LinksDeps,
  { userId, sender, spent, also }: Linking,
): Promise<ChannelRow> => {
  const { store } = deps;
  const row = newChannel(deps.clock.now(), userId, sender);
  const { kind, sender_id, sender_name } = row;
  const message = deps.outbox.toOwner(userId, {
    kind: 'channel.linked',
    title: `${sender_name} on ${kind} is linked to your account`,
    body: 'What is written from there counts as yours. If it was not you: adjutant channels list',
    link: '/api/channels',
  });
  const code = codesOf(store, spent)
    .where('code_digest', '=', spent.code_digest)
    .where('expires_at', '>', row.created_at);
  try {
    await store.transact([
      statement(code, 1),
      statement(store.db.insertInto('channels').values(row), 1),
      statement(codesOf(store, { user_id: null, kind, sender_id })),
      ...message.statements,
      ...(also?.(row) ?? []),
    ]);
  } catch (error) {
    if (error instanceof Unmet) throw new LinkRefused('wrong_code');
    if (error instanceof Taken) throw new LinkRefused('already_linked');
    throw error;
  }
  message.published();
  return row;
};

const newChannel = (now: number, userId: string, sender: ChannelSender): ChannelRow => ({
  id: mint('channel', now),
  user_id: userId,
  kind: sender.kind,
  sender_id: sender.id,
  sender_name: shownName(sender),
  // Who shows a code in the channel is the sender: that is the proof.
  verified_at: iso(now),
  created_at: iso(now),
});
