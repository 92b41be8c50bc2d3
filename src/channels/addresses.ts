import Boom from '@hapi/boom';
import type { Queue } from '../jobs/module.js';
import { type Clock, iso, systemClock } from '../kernel/clock.js';
import type { Recorder } from '../kernel/contract/audit.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import type { Http } from '../kernel/http.js';
import { mint } from '../kernel/ids.js';
import { badRequest } from '../kernel/route.js';
import {
  addOutboundMessage,
  getMessageLane,
  type NewOutboundMessage,
  type Outbox,
} from '../outbound/module.js';
import { newSecret } from '../secrets/module.js';
import { ExpectationFailed } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { ChannelRow } from '../store/tables/channels.js';
import { visibleTo } from '../store/visible.js';
import { newCode, readCode } from './code.js';
import type { ChannelTest, NewChannel } from './contract.js';
import { LinkRefused } from './links.js';
import type { ChannelsStore } from './queries.js';
import { senderDisplayName } from './sender.js';
import type { LinkingDeps } from './service.js';
import { VERIFICATION } from './webhook.js';

export interface AddressesDeps {
  store: Store;
  clock: Clock;
  http: Http;
  outbox: Pick<Outbox, 'toOwner'>;
  outgoing: Pick<Queue, 'added'>;
  channelSecrets: {
    digestCode(code: string): string;
    sealChannelSecret(channelId: string, secret: string): string;
  };
  channels: ChannelsStore;
  accounts: LinkingDeps['accounts'];
}

const MAX_WEBHOOKS = 20;
const CODE_LIFE_MS = 15 * 60_000;
const TEST_MS = 10_000;
const LOOK_MS = 50;

/**
 * Creates the channel and sends its verification code in one transaction. The secret is shown only
 * once.
 */
export const createChannel = async (
  deps: AddressesDeps,
  by: Caller & Recorder,
  { url, name, password }: NewChannel,
): Promise<{ row: ChannelRow & { url: string }; secret: string }> => {
  const { store, clock } = deps;
  const { userId } = by;
  refuseBadUrl(deps, url);
  await deps.accounts.proveFresh(by, password);
  if ((await deps.channels.countWebhooks(userId)) >= MAX_WEBHOOKS) {
    throw Boom.conflict(
      `You have the maximum of ${MAX_WEBHOOKS} webhook channels. Delete a webhook channel first`,
    );
  }
  const { host } = new URL(url);
  const now = clock.now();
  const shown = senderDisplayName({ kind: 'webhook', id: host, name: name ?? host });
  const row = buildChannelRow(userId, shown, now);
  const code = newCode();
  const secret = newSecret();
  const code_expires_at = iso(now + CODE_LIFE_MS);
  const values = {
    ...row,
    url,
    code_expires_at,
    secret_sealed: deps.channelSecrets.sealChannelSecret(row.id, secret),
    code_digest: deps.channelSecrets.digestCode(code),
  };
  const content = { code, expiresAt: code_expires_at };
  const message = to(row, { causeId: row.id, kind: VERIFICATION, content });
  await store.transact([
    statement(store.db.insertInto('channels').values(values), 1),
    ...addOutboundMessage(deps, message),
    by.record({ target: row.id, data: { kind: row.kind, host } }),
  ]);
  deps.outgoing.added(getMessageLane(message));
  return { row: { ...row, url }, secret };
};

const refuseBadUrl = ({ http }: AddressesDeps, url: string): void => {
  try {
    http.check(url);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw badRequest([{ path: 'url', message }]);
  }
};

const buildChannelRow = (userId: string, name: string, now: number): ChannelRow => {
  const id = mint('channel', now);
  return {
    id,
    user_id: userId,
    kind: 'webhook',
    sender_id: id,
    sender_name: name,
    verified_at: null,
    created_at: iso(now),
  };
};

const to = (
  { id: channelId, user_id: userId }: Pick<ChannelRow, 'id' | 'user_id'>,
  message: Omit<NewOutboundMessage, 'userId' | 'target'>,
): NewOutboundMessage => ({ ...message, userId, target: { channelId } });

/**
 * The code is spent in the same transaction, so one of two simultaneous attempts wins. Throws
 * LinkRefused `wrong_code`.
 */
export const verifyChannel = async (
  { store, clock, channelSecrets, outbox }: AddressesDeps,
  by: Caller & Recorder,
  { id: target, code: typed }: { id: string; code: string },
): Promise<void> => {
  const code = readCode(typed);
  if (code === null) throw new LinkRefused('wrong_code');
  const at = iso(clock.now());
  const verified = store.db
    .updateTable('channels')
    .set({ verified_at: at, code_digest: null, code_expires_at: null })
    .where(visibleTo(by.userId))
    .where('id', '=', target)
    .where('code_digest', '=', channelSecrets.digestCode(code))
    .where('code_expires_at', '>', at);
  const notice = outbox.toOwner(by.userId, {
    kind: 'channel.linked',
    title: 'A webhook channel was linked to your account',
    body: `Requests signed with its secret act as you. If you did not link it, remove it: adjutant channels delete ${target.slice(-6)}`,
    link: '/api/channels',
  });
  try {
    await store.transact([statement(verified, 1), ...notice.statements, by.record({ target })]);
  } catch (error) {
    throw error instanceof ExpectationFailed ? new LinkRefused('wrong_code') : error;
  }
  notice.published();
};

/**
 * Resolves to the outcome, or to the state after 10 s. Rejects with 404 `channel_gone` if the test
 * ended the channel.
 */
export const testChannel = async (
  deps: AddressesDeps,
  { userId, signal }: Caller,
  { id, verified_at }: Pick<ChannelRow, 'id' | 'verified_at'>,
): Promise<ChannelTest> => {
  if (verified_at === null) {
    throw Boom.conflict(
      'The channel is not verified. Enter the code that was sent to the address',
      {
        code: 'not_verified',
      },
    );
  }
  const causeId = mint('test', deps.clock.now());
  const content = { title: 'Test message from Adjutant', body: 'This channel works.' };
  const message = to({ id, user_id: userId }, { causeId, kind: 'test', content });
  await deps.store.transact(addOutboundMessage(deps, message));
  deps.outgoing.added(getMessageLane(message));
  const limit = AbortSignal.any([signal, deps.clock.deadline(TEST_MS)]);
  for (;;) {
    const test = await findTestMessage(deps.store, userId, causeId);
    if (!test) throw channelGone();
    const isOver = test.status !== 'queued' && test.status !== 'sending';
    if (isOver || limit.aborted) return test;
    await systemClock.wait(LOOK_MS);
  }
};

/** Its messages end with it. */
const channelGone = (): Boom.Boom =>
  Boom.notFound(
    'The channel was deleted during the test. If it is a browser, its push service no longer knows it: subscribe again',
    {
      code: 'channel_gone',
    },
  );

const findTestMessage = (
  { db }: Store,
  userId: string,
  causeId: string,
): Promise<ChannelTest | undefined> =>
  db
    .selectFrom('sendings')
    .select(['id as sendingId', 'status', 'receipt', 'error'])
    .where(visibleTo(userId))
    .where('cause_id', '=', causeId)
    .executeTakeFirst();
