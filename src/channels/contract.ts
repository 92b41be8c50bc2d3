import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
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
  s
    .text(500)
    .description(
      'Address of the channel, depending on `kind`: user ID on the chat platform, e-mail address, URL of the ntfy topic or webhook, or host of the push service',
    );
const name = () =>
  s.text(500).description('Display name of the sender or the channel at the time of linking');

export const Channel = s.object('Channel', {
  id: s.id('channel'),
  kind: kind(),
  address: address(),
  name: name(),
  verifiedAt: s
    .nullable(s.time())
    .description('Time of the verification. `null` until the channel is verified'),
  createdAt: s.time(),
});
export type Channel = s.Static<typeof Channel>;

/** A linked channel acts as the user, so a login older than ten minutes needs the password. */
const password = () =>
  s.optional(
    s.text(256).description('Your password. Required if you logged in more than ten minutes ago'),
  );

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

/** Other kinds of channels are linked with a code. */
const NewChannel = s.object('NewChannel', {
  kind: s.oneOf('CreatedChannelKind', 'webhook'),
  url: s
    .url(2000)
    .description('URL that receives the messages, signed according to Standard Webhooks'),
  name: s.optional(s.text(100)),
  password: password(),
});
export type NewChannel = s.Static<typeof NewChannel>;

const NewTopic = s.object('NewTopic', {
  topic: s
    .text(500)
    .description('Topic name, or the URL of the topic on the configured ntfy server'),
  name: s.optional(s.text(100)),
});
export type NewTopic = s.Static<typeof NewTopic>;

const NewMailbox = s.object('NewMailbox', {
  address: s.text(320).description('Your e-mail address').example('ada@example.org'),
  name: s.optional(s.text(100)),
});
export type NewMailbox = s.Static<typeof NewMailbox>;

const SentCode = s.object('SentCode', {
  kind: kind(),
  address: s.text(600),
  expiresAt: s.time(),
});
export type SentCode = s.Static<typeof SentCode>;

const ChannelTest = s.object('ChannelTest', {
  sendingId: s.id('sending'),
  status: s
    .oneOf('SendingStatus', 'queued', 'sending', 'sent', 'failed', 'unknown')
    .description(
      'Status of the message. `unknown`: the reply was lost, so the message may have been delivered',
    ),
  receipt: s
    .nullable(s.text(500))
    .description(
      'Identifier that the platform assigned to the message. `null` if the platform returned no identifier',
    ),
  error: s.nullable(s.text(2000)).description('Error message. `null` without an error'),
});
export type ChannelTest = s.Static<typeof ChannelTest>;

export const channels = contract({
  list: endpoint.get('/api/channels', {
    summary: 'List your linked channels',
    description:
      'A channel is a chat or address that is linked to your account. Notifications are sent to it, and a chat can also send messages to an agent.',
    query: pageQuery('ChannelQuery', { kind: s.optional(kind()) }),
    reply: createPageSchema('channels', Channel),
  }),
  delete: endpoint.delete('/api/channels/{id}', {
    summary: 'Unlink a channel',
    audit: 'channels.delete',
  }),
  create: endpoint.post('/api/channels', {
    summary: 'Create a channel that sends notifications to a URL',
    example: { kind: 'webhook', url: 'https://hooks.example.org/pager', name: 'pager' },
    body: NewChannel,
    reply: s.object('NewChannelReply', {
      channel: Channel,
      secret: s
        .text(100)
        .description('Secret that signs requests to and from the channel. Shown only once'),
    }),
    status: 201,
    audit: 'channels.create',
    personal: true,
    secret: true,
  }),
  verify: endpoint.post('/api/channels/{id}/verify', {
    summary: 'Verify a channel with the sent code',
    example: { code: '492039' },
    body: Code,
    reply: Channel,
    audit: 'channels.verify',
    personal: true,
  }),
  test: endpoint.post('/api/channels/{id}/test', {
    summary: 'Send a test message to a channel',
    reply: ChannelTest,
    status: 202,
  }),
  codes: endpoint.post('/api/channels/codes', {
    summary: 'Create a code for the chat command `/link`',
    example: { password: 'a sentence that Grace alone knows' },
    body: s
      .nullable(s.object('LinkCodeRequest', { password: password() }))
      .description('Proof of your identity. `null` if your login is recent enough'),
    reply: NewCode,
    status: 201,
    audit: 'channels.codes',
    personal: true,
    secret: true,
  }),
  ntfy: endpoint.post('/api/channels/ntfy', {
    summary: 'Send a code that links an ntfy topic',
    example: { topic: 'd2f6c1a9e07b4c53', name: 'phone' },
    body: NewTopic,
    reply: SentCode,
    status: 202,
    audit: 'channels.ntfy',
    personal: true,
  }),
  email: endpoint.post('/api/channels/email', {
    summary: 'Send a code that links an e-mail address',
    example: { address: 'ada@example.org' },
    body: NewMailbox,
    reply: SentCode,
    status: 202,
    audit: 'channels.email',
    personal: true,
  }),
  preview: endpoint.post('/api/auth/link/preview', {
    summary: 'Preview the channel that a code links',
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
    summary: 'Link a channel with the code it received',
    example: { code: 'K7QM2XWP' },
    body: Redemption,
    reply: Channel,
    status: 201,
    audit: 'channels.link',
    personal: true,
  }),
});
