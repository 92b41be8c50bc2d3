import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const kind = () =>
  s.oneOf(
    'ChannelKind',
    'slack',
    'teams',
    'mattermost',
    'discord',
    'telegram',
    'whatsapp',
    'ntfy',
    'email',
    'webhook',
    'push',
  );
const address = () =>
  s.text(500).description('Who it is on the platform, by what never changes there');
const name = () => s.text(500).description('What they called themselves when they were linked');

export const Channel = s.object('Channel', {
  id: s.id('channel'),
  kind: kind(),
  address: address(),
  name: name(),
  verifiedAt: s.nullable(s.time()),
  createdAt: s.time(),
});
export type Channel = s.Static<typeof Channel>;

/**
 * A linked channel speaks as the user from then on, so the password is needed later than ten
 * minutes after login.
 */
const password = () =>
  s.optional(s.text(256).description('Needed later than ten minutes after login'));

const Code = s.object('LinkCode', { code: s.text(20).example('K7MPXA') });
const Redemption = s.object('LinkRedemption', {
  code: s.text(20).example('K7MPXA'),
  password: password(),
});
export type Redemption = s.Static<typeof Redemption>;

const NewCode = s.object('NewLinkCode', {
  code: s.text(20).example('K7MPXA'),
  expiresAt: s.time(),
});

/** The kinds of channels that can be created; the others are linked with a code. */
const NewChannel = s.object('NewChannel', {
  kind: s.oneOf('CreatedChannelKind', 'webhook'),
  url: s.text(2000).description('Where messages are posted, signed by Standard Webhooks'),
  name: s.optional(s.text(100)),
  password: password(),
});
export type NewChannel = s.Static<typeof NewChannel>;

const NewTopic = s.object('NewTopic', {
  topic: s
    .text(500)
    .description('The name of the topic, or its address on the server that is set up'),
  name: s.optional(s.text(100)),
});
export type NewTopic = s.Static<typeof NewTopic>;

const NewMailbox = s.object('NewMailbox', {
  address: s.text(320).description('An e-mail address of yours').example('ada@example.org'),
  name: s.optional(s.text(100)),
});
export type NewMailbox = s.Static<typeof NewMailbox>;

/** An address to which a code was sent, and the time until which the code is valid. */
const SentCode = s.object('SentCode', {
  kind: kind(),
  address: s.text(600),
  expiresAt: s.time(),
});
export type SentCode = s.Static<typeof SentCode>;

const ChannelTest = s.object('ChannelTest', {
  sendingId: s.id('sending'),
  status: s.oneOf('SendingStatus', 'queued', 'sending', 'sent', 'failed', 'unknown'),
  receipt: s.nullable(s.text(500)).description('What the platform calls the message that arrived'),
  error: s.nullable(s.text(2000)),
});
export type ChannelTest = s.Static<typeof ChannelTest>;

export const channels = contract({
  list: endpoint.get('/api/channels', {
    summary: 'List your linked channels',
    query: pageQuery('ChannelQuery', { kind: s.optional(kind()) }),
    reply: pageOf('channels', Channel),
  }),
  delete: endpoint.delete('/api/channels/{id}', {
    summary: 'Unlink a channel',
    audit: 'channels.delete',
  }),
  create: endpoint.post('/api/channels', {
    summary:
      'Make an address of yours a channel; a code is sent there that verifies it. The secret is shown once',
    example: { kind: 'webhook', url: 'https://hooks.example.org/pager', name: 'pager' },
    body: NewChannel,
    reply: s.object('NewChannelReply', {
      channel: Channel,
      secret: s.text(100).description('Signs what goes there and what comes from there'),
    }),
    status: 201,
    audit: 'channels.create',
    personal: true,
    secret: true,
  }),
  verify: endpoint.post('/api/channels/{id}/verify', {
    summary: 'Say the code that arrived there: from here on the channel is used',
    example: { code: '492039' },
    body: Code,
    reply: Channel,
    audit: 'channels.verify',
    personal: true,
  }),
  test: endpoint.post('/api/channels/{id}/test', {
    summary: 'Send a test message there and wait up to 10 seconds for how it ends',
    reply: ChannelTest,
    status: 202,
  }),
  codes: endpoint.post('/api/channels/codes', {
    summary:
      'A code, for five minutes and once, that links the channel where you say `/link <code>`',
    example: { password: 'a sentence that Grace alone knows' },
    body: s.nullable(s.object('LinkCodeRequest', { password: password() })),
    reply: NewCode,
    status: 201,
    audit: 'channels.codes',
    personal: true,
    secret: true,
  }),
  ntfy: endpoint.post('/api/channels/ntfy', {
    summary:
      'Send a code to a topic of ntfy, for five minutes and for you alone; redeem it to link the topic',
    example: { topic: 'd2f6c1a9e07b4c53', name: 'phone' },
    body: NewTopic,
    reply: SentCode,
    status: 202,
    audit: 'channels.ntfy',
    personal: true,
  }),
  email: endpoint.post('/api/channels/email', {
    summary:
      'Send a code to an e-mail address, for five minutes and for you alone; redeem it to link the address',
    example: { address: 'ada@example.org' },
    body: NewMailbox,
    reply: SentCode,
    status: 202,
    audit: 'channels.email',
    personal: true,
  }),
  preview: endpoint.post('/api/auth/link/preview', {
    summary: 'Who made a link code: look before you redeem it',
    example: { code: 'K7QM2XWP' },
    body: Code,
    reply: s.object('LinkSender', {
      kind: kind(),
      address: address(),
      name: name(),
      expiresAt: s.time(),
    }),
    personal: true,
    secret: true,
  }),
  link: endpoint.post('/api/auth/link', {
    summary: 'Redeem a link code: its maker is yours, and speaks as you, from here on',
    example: { code: 'K7QM2XWP' },
    body: Redemption,
    reply: Channel,
    status: 201,
    audit: 'channels.link',
    personal: true,
  }),
});
