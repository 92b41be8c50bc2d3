import { contract } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import {
  id,
  nullable,
  object,
  oneOf,
  optional,
  type Static,
  text,
  time,
} from '../kernel/contract/schema.js';

const kind = () =>
  oneOf('ChannelKind', 'slack', 'teams', 'mattermost', 'telegram', 'whatsapp', 'email', 'webhook');
const address = () =>
  text(500).description('Who it is on the platform, by what never changes there');
const name = () => text(500).description('What they called themselves when they were linked');

export const Channel = object('Channel', {
  id: id('channel'),
  kind: kind(),
  address: address(),
  name: name(),
  verifiedAt: nullable(time()),
  createdAt: time(),
});
export type Channel = Static<typeof Channel>;

/**
 * A linked channel speaks as the user from then on, so the password is needed later than ten
 * minutes after login.
 */
const password = () => optional(text(256).description('Needed later than ten minutes after login'));

const Code = object('LinkCode', { code: text(20).example('K7MPXA') });
const Redemption = object('LinkRedemption', {
  code: text(20).example('K7MPXA'),
  password: password(),
});
export type Redemption = Static<typeof Redemption>;

const NewCode = object('NewLinkCode', { code: text(20).example('K7MPXA'), expiresAt: time() });

/** The kinds of channels that can be created; the others are linked with a code. */
const NewChannel = object('NewChannel', {
  kind: oneOf('CreatedChannelKind', 'webhook'),
  url: text(2000).description('Where messages are posted, signed by Standard Webhooks'),
  name: optional(text(100)),
  password: password(),
});
export type NewChannel = Static<typeof NewChannel>;

const ChannelTest = object('ChannelTest', {
  sendingId: id('sending'),
  status: oneOf('SendingStatus', 'queued', 'sending', 'sent', 'failed', 'unknown'),
  receipt: nullable(text(500)).description('What the platform calls the message that arrived'),
  error: nullable(text(2000)),
});
export type ChannelTest = Static<typeof ChannelTest>;

export const channels = contract({
  list: {
    method: 'GET',
    path: '/api/channels',
    summary: 'List your linked channels',
    query: pageQuery('ChannelQuery', { kind: optional(kind()) }),
    reply: pageOf('channels', Channel),
  },
  delete: {
    method: 'DELETE',
    path: '/api/channels/{id}',
    summary: 'Unlink a channel',
    audit: 'channels.delete',
  },
  create: {
    method: 'POST',
    path: '/api/channels',
    summary:
      'Make an address of yours a channel; a code is sent there that verifies it. The secret is shown once',
    example: { kind: 'webhook', url: 'https://hooks.example.org/pager', name: 'pager' },
    body: NewChannel,
    reply: object('NewChannelReply', {
      channel: Channel,
      secret: text(100).description('Signs what goes there and what comes from there'),
    }),
    status: 201,
    audit: 'channels.create',
    personal: true,
    secret: true,
  },
  verify: {
    method: 'POST',
    path: '/api/channels/{id}/verify',
    summary: 'Say the code that arrived there: from here on the channel is used',
    example: { code: '492039' },
    body: Code,
    reply: Channel,
    audit: 'channels.verify',
    personal: true,
  },
  test: {
    method: 'POST',
    path: '/api/channels/{id}/test',
    summary: 'Send a test message there and wait up to 10 seconds for how it ends',
    reply: ChannelTest,
    status: 202,
  },
  codes: {
    method: 'POST',
    path: '/api/channels/codes',
    summary:
      'A code, for five minutes and once, that links the channel where you say `/link <code>`',
    example: { password: 'a sentence that Grace alone knows' },
    body: nullable(object('LinkCodeRequest', { password: password() })),
    reply: NewCode,
    status: 201,
    audit: 'channels.codes',
    personal: true,
    secret: true,
  },
  preview: {
    method: 'POST',
    path: '/api/auth/link/preview',
    summary: 'Who made a link code: look before you redeem it',
    example: { code: 'K7QM2XWP' },
    body: Code,
    reply: object('LinkSender', {
      kind: kind(),
      address: address(),
      name: name(),
      expiresAt: time(),
    }),
    personal: true,
    secret: true,
  },
  link: {
    method: 'POST',
    path: '/api/auth/link',
    summary: 'Redeem a link code: its maker is yours, and speaks as you, from here on',
    example: { code: 'K7QM2XWP' },
    body: Redemption,
    reply: Channel,
    status: 201,
    audit: 'channels.link',
    personal: true,
  },
});
