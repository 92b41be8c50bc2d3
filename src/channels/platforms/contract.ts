import { contract } from '../../kernel/contract/endpoint.js';
import {
  anyText,
  flag,
  formerly,
  list,
  nullable,
  object,
  oneOf,
  optional,
  record,
  type Static,
  text,
  time,
} from '../../kernel/contract/schema.js';

const kind = () => oneOf('PlatformKind', 'slack', 'teams', 'mattermost', 'telegram', 'whatsapp');

const PlatformReply = object('Platform', {
  kind: kind(),
  baseUrl: text(2000),
  isDefaultUrl: flag(),
  fields: list(
    object('PlatformField', {
      name: text(50),
      description: text(500).description('Where it is found at the platform'),
      isSecret: flag(),
      isSet: flag(),
      value: nullable(text(2000)).description('null: it is secret, or not set'),
    }),
    20,
  ),
  sends: flag().description('All is set that it takes to send'),
  receives: flag().description(
    'All is set that it takes to be believed: else its endpoint is closed',
  ),
  receiver: text(2000).description('Where the platform is to send its requests'),
  setup: list(text(500), 20).description('What to do at the platform, in this order'),
  updatedAt: nullable(time()).description('null: nothing was set'),
});
export type PlatformReply = Static<typeof PlatformReply>;

const Changes = formerly(
  object('PlatformChanges', {
    baseUrl: optional(nullable(text(2000)).description('null: that of the real service')),
    values: optional(
      record('PlatformFields').description(
        'Of its fields by name: a text, or null to forget it; those left out stay as they are',
      ),
    ),
  }).min(1),
  { fields: 'values' },
);
export type Changes = Static<typeof Changes>;

const Checked = object('PlatformTest', {
  ok: flag(),
  account: nullable(anyText(500)).description('Who the platform says we are'),
  error: nullable(text(2000)),
});

/** Settings that an admin makes once for all users, so that channels of a kind can be linked. */
export const platforms = contract({
  list: {
    method: 'GET',
    path: '/api/admin/platforms',
    summary: 'List the chat platforms and what is set of each; secrets are never shown',
    access: 'admin',
    audit: 'platforms.list',
    reply: object('Platforms', { platforms: list(PlatformReply, 20) }),
  },
  update: {
    method: 'PUT',
    path: '/api/admin/platforms/{kind}',
    summary: 'Set up a chat platform: what is given; the rest stays',
    access: 'admin',
    audit: 'platforms.update',
    example: { values: { botToken: '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0' } },
    body: Changes,
    reply: PlatformReply,
  },
  delete: {
    method: 'DELETE',
    path: '/api/admin/platforms/{kind}',
    summary: 'Forget all that was set of a platform; its endpoint is closed, linked channels stay',
    access: 'admin',
    audit: 'platforms.delete',
  },
  test: {
    method: 'POST',
    path: '/api/admin/platforms/{kind}/test',
    summary: 'Ask the platform who we are there',
    access: 'admin',
    audit: 'platforms.test',
    reply: Checked,
  },
  install: {
    method: 'POST',
    path: '/api/admin/platforms/{kind}/install',
    summary: 'Tell the platform where to send its requests, where it can be told (Telegram)',
    access: 'admin',
    audit: 'platforms.install',
    reply: Checked,
  },
});
