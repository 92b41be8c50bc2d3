import Boom from '@hapi/boom';
import { type Clock, iso } from '../kernel/clock.js';
import type { Recorder } from '../kernel/contract/audit.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import type { Http } from '../kernel/http.js';
import { badRequest } from '../kernel/route.js';
import { email, parseMailbox } from '../providers/chat/email.js';
import { ntfy, parseTopicUrl } from '../providers/chat/ntfy.js';
import type { OutboundPlatform, PlatformSettings } from '../providers/chat/platform.js';
import type { Statement } from '../store/engine/protocol.js';
import { isCommitted, type Store, statement } from '../store/store.js';
import type { ChannelKind } from '../store/tables/channels.js';
import { visibleTo } from '../store/visible.js';
import type { NewMailbox, NewTopic, SentCode } from './contract.js';
import type { Links } from './links.js';
import { isConfiguredFor, type PlatformSettingsCache } from './settings.js';

export interface AddressCodesDeps {
  store: Store;
  clock: Clock;
  http: Http;
  links: Links;
  platformSettings: Pick<PlatformSettingsCache, 'of'>;
}

const HOUR_MS = 3600_000;
const DAY_MS = 24 * HOUR_MS;
/** Codes per address and hour, and per user and day. */
const MAX_PER_ADDRESS = 3;
const MAX_PER_USER = 10;
const TOO_MANY = `Too many codes. At most ${MAX_PER_ADDRESS} codes per hour are sent to one address and ${MAX_PER_USER} per day for one user`;

interface CodeAddress {
  platform: OutboundPlatform;
  settings: PlatformSettings;
  address: string;
  name: string;
  /** For the audit log: an address can be as sensitive as a secret. */
  server: string;
}

/**
 * A topic has no sender: whoever redeems the code proves that they can read the topic. Throws 409
 * if ntfy is not configured or rejects the topic.
 */
export const sendTopicCode = async (
  deps: AddressCodesDeps,
  by: Caller & Recorder,
  { topic, name }: NewTopic,
): Promise<SentCode> => {
  const settings = requirePlatformSettings(deps, ntfy);
  const address = parseTopicUrl(topic, settings.baseUrl);
  if (address === null) {
    const message = `must be 1 to 64 letters, digits, _ or -, or a URL under ${settings.baseUrl}/`;
    throw badRequest([{ path: 'topic', message }]);
  }
  const topicName = address.slice(settings.baseUrl.length + 1);
  const { baseUrl: server } = settings;
  return sendCode(deps, by, { platform: ntfy, settings, server, address, name: name ?? topicName });
};

/** Throws 409 if e-mail is not configured or its server rejects the address. */
export const sendMailboxCode = async (
  deps: AddressCodesDeps,
  by: Caller & Recorder,
  { address: typed, name }: NewMailbox,
): Promise<SentCode> => {
  const settings = requirePlatformSettings(deps, email);
  const address = parseMailbox(typed);
  if (address === null) {
    throw badRequest([
      { path: 'address', message: 'must be an e-mail address without a display name' },
    ]);
  }
  const { host: server = '' } = settings.values;
  return sendCode(deps, by, { platform: email, settings, server, address, name: name ?? address });
};

/** Throws 409 if the platform is not configured for sending. */
const requirePlatformSettings = (
  { platformSettings }: AddressCodesDeps,
  platform: OutboundPlatform,
): PlatformSettings => {
  const { kind } = platform;
  const settings = platformSettings.of(kind);
  if (settings && isConfiguredFor('send', platform, settings)) return settings;
  throw Boom.conflict(
    `${kind} is not configured. An admin can configure it with: adjutant channels setup ${kind}`,
    {
      code: 'not_set_up',
    },
  );
};

/** Throws 429 beyond the limits. A request counts even if the code was not sent. */
const sendCode = async (
  deps: AddressCodesDeps,
  by: Caller & Recorder,
  { platform, settings, address, name, server }: CodeAddress,
): Promise<SentCode> => {
  const { userId, username, signal } = by;
  const { kind } = platform;
  await refuseLinked(deps.store, { userId, kind, address });
  const step = by.record({ data: { kind, server } });
  const requests = buildCodeRequest(deps, { userId, kind, address });
  if (!(await isCommitted(deps.store.transact([...requests, step])))) {
    throw Boom.tooManyRequests(TOO_MANY, { code: 'too_many_codes' });
  }
  const { code, expiresAt } = await deps.links.codeTo(userId, { kind, id: address, name });
  const [part = {}] = platform.render({ title: TITLE, text: formatCodeMessage(username, code) });
  const reach = { clock: deps.clock, http: deps.http, settings, receiver: '', signal };
  const sent = await platform.send(reach, address, part);
  if (sent.verdict === 'sent') return { kind, address, expiresAt };
  throw Boom.conflict(`The code could not be sent: ${sent.error}`, { code: 'code_not_sent' });
};

const TITLE = 'Link this address to Adjutant?';

const formatCodeMessage = (username: string, code: string): string =>
  [
    `${username} requested this. The code is ${code}. It is valid for five minutes and only for that account.`,
    `Redeem it with: adjutant channels link ${code}`,
    'If you do not recognize this request, ignore this message.',
  ].join('\n');

interface CodeRequest {
  userId: string;
  kind: ChannelKind;
  address: string;
}

/** Throws 409 for a channel of the user. Channels of other users are not revealed. */
const refuseLinked = async (
  { db }: Store,
  { userId, kind, address }: CodeRequest,
): Promise<void> => {
  const own = await db
    .selectFrom('channels')
    .select('id')
    .where(visibleTo(userId))
    .where('kind', '=', kind)
    .where('sender_id', '=', address)
    .executeTakeFirst();
  if (own)
    throw Boom.conflict(
      'The address is already one of your channels. Use that channel, or enter another address',
      { code: 'already_linked' },
    );
};

/** Throws Unmet beyond the limits. Deletes expired requests. */
const buildCodeRequest = (
  { store: { db }, clock }: AddressCodesDeps,
  { userId, kind, address }: CodeRequest,
): Statement[] => {
  const now = clock.now();
  const dayAgo = iso(now - DAY_MS);
  const counted = db.selectFrom('code_requests').select((of) => of.fn.countAll<number>().as('n'));
  const ofUser = counted.where(visibleTo(userId)).where('asked_at', '>', dayAgo);
  const toAddress = counted
    .where('kind', '=', kind)
    .where('address', '=', address)
    .where('asked_at', '>', iso(now - HOUR_MS));
  const row = db
    .selectNoFrom((of) => [
      of.val(userId).as('user_id'),
      of.val(kind).as('kind'),
      of.val(address).as('address'),
      of.val(iso(now)).as('asked_at'),
    ])
    .where((of) => of(ofUser, '<', MAX_PER_USER))
    .where((of) => of(toAddress, '<', MAX_PER_ADDRESS));
  const columns = ['user_id', 'kind', 'address', 'asked_at'] as const;
  const insert = db.insertInto('code_requests').columns(columns).expression(row);
  const old = db.deleteFrom('code_requests').where('asked_at', '<=', dayAgo);
  return [statement(old), statement(insert, 1)];
};
