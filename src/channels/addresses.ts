import { setTimeout as wait } from 'node:timers/promises';
import type { Queue } from '../jobs/queue.js';
import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import { addSending, laneOf, type NewSending } from '../outbound/messages.js';
import type { Outbox } from '../outbound/outbox.js';
import { newSecret } from '../secrets/standardwebhooks.js';
import { type TransactionStep, Unmet } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { ChannelRow } from '../store/tables/channels.js';
import type { SendingRow } from '../store/tables/outbox.js';
import { newCode, readCode } from './code.js';
import { LinkRefused } from './refusal.js';
import { VERIFICATION } from './webhook.js';

export interface AddressesDeps {
  store: Store;
  clock: Clock;
  outbox: Pick<Outbox, 'toOwner'>;
  /** Queue of outbound messages. */
  outgoing: Pick<Queue, 'added'>;
  digestCode(code: string): string;
  sealChannelSecret(channelId: string, secret: string): string;
}

export interface CreatedAddress {
  row: ChannelRow & { url: string };
  /** Secret of the channel, shown only once. */
  secret: string;
}

export type TestSending = Pick<SendingRow, 'id' | 'status' | 'receipt' | 'error'>;

/** Channels that are an address of the owner, and operations for channels of every kind. */
export interface ChannelAddresses {
  /** Creates a channel and sends its verification code there, in one transaction. */
  create(
    userId: string,
    given: { url: string; name: string },
    also: (row: ChannelRow) => TransactionStep[],
  ): Promise<CreatedAddress>;
  /** Verifies a channel. Throws LinkRefused `wrong_code`. */
  verify(userId: string, channelId: string, code: string, also: TransactionStep[]): Promise<void>;
  /**
   * Sends a test message to a channel of the user. Resolves to its outcome, or to its state after
   * 10 s.
   */
  test(userId: string, channelId: string, signal: AbortSignal): Promise<TestSending>;
}

const CODE_LIFE_MS = 15 * 60_000;
const TEST_MS = 10_000;
const LOOK_MS = 50;

export const createAddresses = (deps: AddressesDeps): ChannelAddresses => {
  const { store, clock } = deps;
  return {
    create: async (userId, { url, name }, also) => {
      const now = clock.now();
      const row = rowOf(userId, name, now);
      const code = newCode();
      const secret = newSecret();
      const code_expires_at = iso(now + CODE_LIFE_MS);
      const values = {
        ...{ ...row, url, code_expires_at },
        secret_sealed: deps.sealChannelSecret(row.id, secret),
        code_digest: deps.digestCode(code),
      };
      const content = { code, expiresAt: code_expires_at };
      const sending = to(row, { causeId: row.id, kind: VERIFICATION, content });
      await store.transact([
        statement(store.db.insertInto('channels').values(values), 1),
        ...addSending(deps, sending),
        ...also(row),
      ]);
      deps.outgoing.added(laneOf(sending));
      return { row: { ...row, url }, secret };
    },
    verify: (userId, channelId, code, also) => verify(deps, { userId, channelId, code }, also),
    test: (userId, channelId, signal) => sendTest(deps, { userId, channelId, signal }),
  };
};

const rowOf = (userId: string, name: string, now: number): ChannelRow => {
  const id = mint('channel', now);
  return {
    ...{ id, user_id: userId, kind: 'webhook', sender_id: id, sender_name: name },
    verified_at: null,
    created_at: iso(now),
  };
};

const to = (
  { id: channelId, user_id: userId }: Pick<ChannelRow, 'id' | 'user_id'>,
  sending: Omit<NewSending, 'userId' | 'target'>,
): NewSending => ({ ...sending, userId, target: { channelId } });

/**
 * Verifies a channel. The code is spent in the same transaction, so that one of two simultaneous
 * tries wins.
 */
const verify = async (
  { store, clock, digestCode, outbox }: AddressesDeps,
  { userId, channelId, code: typed }: { userId: string; channelId: string; code: string },
  also: TransactionStep[],
): Promise<void> => {
  const code = readCode(typed);
  if (code === null) throw new LinkRefused('wrong_code');
  const at = iso(clock.now());
  const verified = store.db
    .updateTable('channels')
    .set({ verified_at: at, code_digest: null, code_expires_at: null })
    .where('user_id', '=', userId)
    .where('id', '=', channelId)
    .where('code_digest', '=', digestCode(code))
    .where('code_expires_at', '>', at);
  const told = outbox.toOwner(userId, {
    kind: 'channel.linked',
    title: 'A webhook is linked to your account as a channel',
    body: 'What is posted with its secret counts as yours. If it was not you: adjutant channels list',
    link: '/api/channels',
  });
  try {
    await store.transact([statement(verified, 1), ...told.statements, ...also]);
  } catch (error) {
    throw error instanceof Unmet ? new LinkRefused('wrong_code') : error;
  }
  told.published();
};

const sendTest = async (
  deps: AddressesDeps,
  { userId, channelId, signal }: { userId: string; channelId: string; signal: AbortSignal },
): Promise<TestSending> => {
  const causeId = mint('test', deps.clock.now());
  const content = { title: 'A test from Adjutant', body: 'This channel works.' };
  const sending = to({ id: channelId, user_id: userId }, { causeId, kind: 'test', content });
  await deps.store.transact(addSending(deps, sending));
  deps.outgoing.added(laneOf(sending));
  const until = performance.now() + TEST_MS;
  for (;;) {
    const row = await findSending(deps.store, userId, causeId);
    const isOver = row.status !== 'queued' && row.status !== 'sending';
    if (isOver || signal.aborted || performance.now() > until) return row;
    await wait(LOOK_MS);
  }
};

const findSending = ({ db }: Store, userId: string, causeId: string): Promise<TestSending> =>
  db
    .selectFrom('sendings')
    .select(['id', 'status', 'receipt', 'error'])
    .where('user_id', '=', userId)
    .where('cause_id', '=', causeId)
    .executeTakeFirstOrThrow();
