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
  baseUrl: s
    .anyText(2000)
    .description('Base URL of the platform API. Empty for `email`, which has no API'),
  isDefaultUrl: s.boolean().description('Whether `baseUrl` is the default of the platform'),
  fields: s.list(
    s.object('PlatformField', {
      name: s.text(50),
      description: s
        .text(500)
        .description('Description of the field, and where to find the value on the platform'),
      isSecret: s.boolean(),
      isSet: s.boolean(),
      isOptional: s.boolean().description('Whether the platform works without this field'),
      value: s
        .nullable(s.text(2000))
        .description('Current value. `null` if the field is secret or not set'),
    }),
    20,
  ),
  sends: s.boolean().description('Whether all fields required for sending are set'),
  receives: s
    .boolean()
    .description(
      'Whether all fields required for receiving are set. If false, requests of the platform are ' +
        'rejected with 401. Always false for a platform that sends no requests',
    ),
  installs: s
    .boolean()
    .description('Whether Adjutant can register the webhook URL with the platform'),
  receiver: s
    .nullable(s.text(2000))
    .description('URL that the platform sends its requests to. `null` if the platform sends none'),
  setup: s.list(s.text(500), 20).description('Setup steps on the platform, in order'),
  updatedAt: s.nullable(s.time()).description('Time of the last change. `null` if nothing is set'),
});
export type PlatformReply = s.Static<typeof PlatformReply>;

const Changes = s.acceptFormerNames(
  s
    .object('PlatformChanges', {
      baseUrl: s.optional(
        s
          .nullable(s.url(2000))
          .description('Base URL of the platform API. `null` restores the default'),
      ),
      values: s.optional(
        s
          .record('PlatformFields')
          .description(
            'Field values by field name. `null` deletes a value; omitted fields are unchanged',
          ),
      ),
    })
    .min(1),
  { fields: 'values' },
);
export type Changes = s.Static<typeof Changes>;

const Checked = s.object('PlatformTest', {
  ok: s.boolean(),
  account: s
    .nullable(s.anyText(500))
    .description(
      'Account that the platform reports for the credentials. `null` if the platform reports none',
    ),
  error: s.nullable(s.text(2000)).description('Error message. `null` without an error'),
});

export const platforms = contract({
  list: endpoint.get('/api/admin/platforms', {
    summary: 'List chat platforms and their settings',
    access: 'admin',
    audit: 'platforms.list',
    reply: s.object('Platforms', { platforms: s.list(PlatformReply, 20) }),
  }),
  update: endpoint.put('/api/admin/platforms/{kind}', {
    summary: 'Update the settings of a chat platform',
    description:
      'Omitted fields keep their values. Omitted secrets are deleted if the address of the server changes.',
    access: 'admin',
    audit: 'platforms.update',
    example: { values: { botToken: '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0' } },
    body: Changes,
    reply: PlatformReply,
  }),
  delete: endpoint.delete('/api/admin/platforms/{kind}', {
    summary: 'Delete the settings of a chat platform',
    access: 'admin',
    audit: 'platforms.delete',
  }),
  test: endpoint.post('/api/admin/platforms/{kind}/test', {
    summary: 'Test the credentials of a chat platform',
    access: 'admin',
    audit: 'platforms.test',
    reply: Checked,
  }),
  install: endpoint.post('/api/admin/platforms/{kind}/install', {
    summary: 'Register the webhook URL with a chat platform',
    access: 'admin',
    audit: 'platforms.install',
    reply: Checked,
  }),
});
