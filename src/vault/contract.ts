import Joi from 'joi';
import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';
import { normalizeHost } from '../kernel/contract/url.js';

const type = () =>
  s.oneOf(
    'CredentialType',
    'api_key',
    'oauth_token',
    'password',
    'ssh_key',
    'certificate',
    'webhook_secret',
    'other',
  );
const value = () => s.text(65_536).description('Value of the credential. Write-only');
const name = () =>
  Joi.string<string>()
    .pattern(/^[A-Za-z0-9][\w.-]{0,99}$/, 'letters, digits, ".", "_" and "-"')
    .example('github-pat');
const tools = () =>
  s
    .list(Joi.string<string>().pattern(/^[\w.:-]{1,100}$/, 'the name of a tool'), 100)
    .description(
      'Tools that may use the credential, such as `http.request`, or `http` for all tools of the skill. Without an entry, no tool may use the credential',
    );
const hosts = () =>
  s
    .list(
      Joi.string<string>()
        .custom(normalizeHost)
        .pattern(/^(?:(?!.*\.\.)[a-z0-9.-]{1,253}|\[[0-9a-f:.]+\])(?::\d{1,5})?$/, 'a host')
        .example('api.github.com'),
      100,
    )
    .description(
      'Hosts to which the credential may be sent. Without a port, only by HTTPS on port 443. With a port, such as `:8443`, by HTTPS or unencrypted HTTP on this port',
    );
const expiry = () =>
  s
    .nullable(s.moment())
    .description(
      'Time at which the credential expires and is no longer used. `null` if the credential does not expire',
    );

const editable = {
  description: s.optional(
    s
      .nullable(s.anyText(2000))
      .description('Description of the credential. `null` if there is none'),
  ),
  tags: s.optional(s.list(s.text(60).normalize('NFC'), 50)),
  allowedTools: s.optional(tools()),
  allowedHosts: s.optional(hosts()),
  expiresAt: s.optional(expiry()),
  rotateEveryDays: s.optional(
    s
      .nullable(s.integer(1, 3650))
      .description(
        'Interval of rotation reminders in days. Rotation is not automatic. `null` disables the reminders',
      ),
  ),
};

export const Credential = s.object('Credential', {
  id: s.id('credential'),
  orgId: s.orgId(),
  name: s.text(100),
  type: type(),
  description: s
    .nullable(s.anyText(2000))
    .description('Description of the credential. `null` if there is none'),
  tags: s.list(s.text(60)),
  allowedTools: s.list(s.text(100)),
  allowedHosts: s.list(s.text(300)),
  version: s.integer(1, Number.MAX_SAFE_INTEGER),
  expiresAt: s
    .nullable(s.time())
    .description('Expiry time. `null` if the credential does not expire'),
  rotateEveryDays: s
    .nullable(s.integer(1, 3650))
    .description('Interval of rotation reminders, in days. `null` if reminders are disabled'),
  rotateDueAt: s
    .nullable(s.time())
    .description('Time at which the next rotation is due. `null` if reminders are disabled'),
  lastUsedAt: s
    .nullable(s.time())
    .description('Time of the last use, to the minute. `null` if not used yet'),
  rotatedAt: s
    .nullable(s.time())
    .description('Time of the last rotation. `null` if not rotated yet'),
  createdAt: s.time(),
  updatedAt: s.time(),
});
export type Credential = s.Static<typeof Credential>;

const NewCredential = s.object('NewCredential', {
  name: name(),
  value: value(),
  type: s.optional(type()),
  ...editable,
});
export type NewCredential = s.Static<typeof NewCredential>;

const CredentialChanges = s
  .ignoreReadOnly(
    s.object('CredentialChanges', {
      name: s.optional(name()),
      type: s.optional(type()),
      ...editable,
    }),
    ...[
      'id',
      'orgId',
      'version',
      'rotateDueAt',
      'lastUsedAt',
      'rotatedAt',
      'createdAt',
      'updatedAt',
    ],
  )
  .min(1);
export type CredentialChanges = s.Static<typeof CredentialChanges>;

const CredentialRotation = s.object('CredentialRotation', {
  value: s.optional(
    value().description('New value. Write-only. Required unless a value is generated'),
  ),
  generate: s.optional(
    s
      .boolean()
      .description(
        'Whether to generate the value and return it once. Defaults to true for a `webhook_secret`',
      ),
  ),
  overlapMinutes: s.optional(
    s
      .integer(0, 43_200)
      .description('Time for which the previous value stays valid, in minutes. Defaults to 60'),
  ),
});
export type CredentialRotation = s.Static<typeof CredentialRotation>;

const CredentialRestoration = s.object('CredentialRestoration', {
  version: s.optional(
    s
      .integer(1, Number.MAX_SAFE_INTEGER)
      .description(
        'Version to restore. Defaults to the newest earlier version that is still valid',
      ),
  ),
  overlapMinutes: s.optional(
    s
      .integer(0, 43_200)
      .description('Time for which the replaced value stays valid, in minutes. Defaults to 60'),
  ),
});
export type CredentialRestoration = s.Static<typeof CredentialRestoration>;

export const CredentialVersion = s.object('CredentialVersion', {
  version: s.integer(1, Number.MAX_SAFE_INTEGER),
  createdAt: s.time(),
  validUntil: s
    .nullable(s.time())
    .description('End of the validity. `null` for the current version'),
});
export type CredentialVersion = s.Static<typeof CredentialVersion>;

export const vault = contract({
  list: endpoint.get('/api/vault', {
    shared: 'member',
    summary: 'List credentials without their values',
    query: pageQuery('CredentialQuery', { type: s.optional(type()) }),
    reply: createPageSchema('credentials', Credential),
  }),
  create: endpoint.post('/api/vault', {
    shared: 'admin',
    summary: 'Create a credential',
    audit: 'vault.create',
    example: {
      name: 'github-pat',
      value: 'ghp_ExampleExampleExample',
      type: 'api_key',
      allowedHosts: ['api.github.com'],
    },
    body: NewCredential,
    reply: Credential,
    status: 201,
  }),
  get: endpoint.get('/api/vault/{id}', {
    shared: 'member',
    summary: 'Get a credential without its value',
    reply: Credential,
  }),
  update: endpoint.patch('/api/vault/{id}', {
    shared: 'admin',
    summary: 'Update a credential',
    description: 'Does not change the value. To replace the value, rotate the credential.',
    audit: 'vault.update',
    example: { description: 'Token of the bot account', tags: ['forge'] },
    body: CredentialChanges,
    reply: Credential,
  }),
  delete: endpoint.delete('/api/vault/{id}', {
    shared: 'admin',
    summary: 'Delete a credential',
    description: 'All versions are deleted.',
    audit: 'vault.delete',
  }),
  rotate: endpoint.post('/api/vault/{id}/rotate', {
    shared: 'admin',
    summary: 'Rotate a credential to a new value',
    description:
      'Send the new value, or let Adjutant generate one. The previous value stays valid until the overlap ends.',
    audit: 'vault.rotate',
    example: { value: 'ghp_AnotherAnotherAnother', overlapMinutes: 60 },
    body: CredentialRotation,
    reply: s.object('RotatedCredential', {
      credential: Credential,
      value: s.optional(
        s
          .text(100)
          .description('Generated value, shown only once. Absent if the request contained a value'),
      ),
    }),
    secret: true,
  }),
  versions: endpoint.get('/api/vault/{id}/versions', {
    shared: 'member',
    summary: 'List the valid versions of a credential',
    description:
      'Valid versions are the current version, and earlier versions whose overlap has not ended. The values are not included.',
    reply: s.object('CredentialVersions', { versions: s.list(CredentialVersion, 1000) }),
  }),
  restore: endpoint.post('/api/vault/{id}/restore', {
    shared: 'admin',
    summary: 'Restore an earlier version of a credential',
    description:
      'A version can be restored until its overlap ends. The restored value becomes a new version.',
    audit: 'vault.restore',
    example: { version: 1 },
    body: CredentialRestoration,
    reply: Credential,
  }),
  reveal: endpoint.post('/api/vault/{id}/reveal', {
    shared: 'admin',
    summary: 'Reveal the value of a credential',
    description: 'Requires your password, even after a recent login.',
    personal: true,
    audit: 'vault.reveal',
    example: { password: 'a sentence that Grace alone knows' },
    body: s.object('Reveal', { password: s.text(256) }),
    reply: s.object('RevealedCredential', { value: s.text(65_536) }),
    secret: true,
  }),
  rekey: endpoint.post('/api/admin/vault/rekey', {
    summary: 'Rotate the master key',
    description:
      'Encrypts all secrets with the new master key. An interrupted rotation continues at the next start of the daemon.',
    access: 'admin',
    personal: true,
    audit: 'vault.rekey',
    reply: s.object('Rekeying', {
      rewrapped: s
        .integer(0, Number.MAX_SAFE_INTEGER)
        .description('Number of secrets that were encrypted with the new key'),
      finishedAt: s.time(),
    }),
  }),
});
