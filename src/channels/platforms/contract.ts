import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const kind = () =>
  s.oneOf(
    'PlatformKind',
    ...([
      'slack',
      'teams',
      'mattermost',
      'discord',
      'telegram',
      'whatsapp',
      'ntfy',
      'email',
    ] as const),
  );

const PlatformReply = s.object('Platform', {
  kind: kind(),
  baseUrl: s.anyText(2000).description('Empty: it has none'),
  isDefaultUrl: s.flag(),
  fields: s.list(
    s.object('PlatformField', {
      name: s.text(50),
      description: s.text(500).description('Where it is found at the platform'),
      isSecret: s.flag(),
      isSet: s.flag(),
      isOptional: s.flag().description('It works without; the others are needed'),
      value: s.nullable(s.text(2000)).description('null: it is secret, or not set'),
    }),
    20,
  ),
  sends: s.flag().description('All is set that it takes to send'),
  receives: s
    .flag()
    .description('All is set that it takes to be believed: else its endpoint is closed'),
  installs: s.flag().description('It can be told by us where to send them'),
  receiver: s
    .nullable(s.text(2000))
    .description('Where the platform is to send its requests; null: it sends none'),
  setup: s.list(s.text(500), 20).description('What to do at the platform, in this order'),
  updatedAt: s.nullable(s.time()).description('null: nothing was set'),
});
export type PlatformReply = s.Static<typeof PlatformReply>;

const Changes = s.formerly(
  s
    .object('PlatformChanges', {
      baseUrl: s.optional(s.nullable(s.text(2000)).description('null: that of the real service')),
      values: s.optional(
        s
          .record('PlatformFields')
          .description(
            'Of its fields by name: a text, or null to forget it; those left out stay as they are',
          ),
      ),
    })
    .min(1),
  { fields: 'values' },
);
export type Changes = s.Static<typeof Changes>;

const Checked = s.object('PlatformTest', {
  ok: s.flag(),
  account: s.nullable(s.anyText(500)).description('Who the platform says we are'),
  error: s.nullable(s.text(2000)),
});

/** Settings that an admin makes once for all users, so that channels of a kind can be linked. */
export const platforms = contract({
  list: endpoint.get('/api/admin/platforms', {
    summary: 'List the chat platforms and what is set of each; secrets are never shown',
    access: 'admin',
    audit: 'platforms.list',
    reply: s.object('Platforms', { platforms: s.list(PlatformReply, 20) }),
  }),
  update: endpoint.put('/api/admin/platforms/{kind}', {
    summary: 'Set up a chat platform: what is given; the rest stays',
    access: 'admin',
    audit: 'platforms.update',
    example: { values: { botToken: '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0' } },
    body: Changes,
    reply: PlatformReply,
  }),
  delete: endpoint.delete('/api/admin/platforms/{kind}', {
    summary: 'Forget all that was set of a platform; its endpoint is closed, linked channels stay',
    access: 'admin',
    audit: 'platforms.delete',
  }),
  test: endpoint.post('/api/admin/platforms/{kind}/test', {
    summary: 'Ask the platform who we are there',
    access: 'admin',
    audit: 'platforms.test',
    reply: Checked,
  }),
  install: endpoint.post('/api/admin/platforms/{kind}/install', {
    summary:
      'Tell the platform where to send its requests, where it can be told (Telegram, Discord)',
    access: 'admin',
    audit: 'platforms.install',
    reply: Checked,
  }),
});
