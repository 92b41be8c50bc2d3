import Joi from 'joi';
import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

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
const value = () => s.text(65_536).description('Write-only');
const name = () =>
  Joi.string<string>()
    .pattern(/^[A-Za-z0-9][\w.-]{0,99}$/, 'letters, digits, ".", "_" and "-"')
    .example('github-pat');
const tools = () =>
  s
    .list(Joi.string<string>().pattern(/^[\w.:-]{1,100}$/, 'the name of a tool'), 100)
    .description('Tools that it may be put into: http.request, or http for all of a skill');
const hosts = () =>
  s
    .list(
      Joi.string<string>()
        .lowercase()
        .pattern(/^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]+\])(?::\d{1,5})?$/, 'a host')
        .example('api.github.com'),
      100,
    )
    .description(
      'Hosts that it may be sent to by https, with a port where it is another; :80 for plain http',
    );
const expiry = () => s.nullable(s.moment()).description('From then on it is used no more');

const given = {
  description: s.optional(s.nullable(s.anyText(2000))),
  tags: s.optional(s.list(s.text(60), 50)),
  allowedTools: s.optional(tools()),
  allowedHosts: s.optional(hosts()),
  expiresAt: s.optional(expiry()),
  rotateEveryDays: s.optional(
    s
      .nullable(s.whole(1, 3650))
      .description('You are reminded when it is due; nothing rotates by itself'),
  ),
};

export const Credential = s.object('Credential', {
  id: s.id('credential'),
  name: s.text(100),
  type: type(),
  description: s.nullable(s.anyText(2000)),
  tags: s.list(s.text(60)),
  allowedTools: s.list(s.text(100)),
  allowedHosts: s.list(s.text(300)),
  version: s.whole(1, Number.MAX_SAFE_INTEGER),
  expiresAt: s.nullable(s.time()),
  rotateEveryDays: s.nullable(s.whole(1, 3650)),
  rotateDueAt: s.nullable(s.time()),
  lastUsedAt: s.nullable(s.time()).description('To the minute'),
  rotatedAt: s.nullable(s.time()),
  createdAt: s.time(),
  updatedAt: s.time(),
});
export type Credential = s.Static<typeof Credential>;

const NewCredential = s.object('NewCredential', {
  name: name(),
  value: value(),
  type: s.optional(type()),
  ...given,
});
export type NewCredential = s.Static<typeof NewCredential>;

const CredentialChanges = s
  .ignoring(
    s.object('CredentialChanges', { name: s.optional(name()), type: s.optional(type()), ...given }),
    ...['id', 'version', 'rotateDueAt', 'lastUsedAt', 'rotatedAt', 'createdAt', 'updatedAt'],
  )
  .min(1);
export type CredentialChanges = s.Static<typeof CredentialChanges>;

const CredentialRotation = s.object('CredentialRotation', {
  value: s.optional(value().description('Write-only; required, unless one is generated')),
  generate: s.optional(
    s.flag().description('Generate the value and show it once; the default for a webhook_secret'),
  ),
  overlapMinutes: s.optional(
    s.whole(0, 43_200).description('How long the one before it stays good; 60 unless given'),
  ),
});
export type CredentialRotation = s.Static<typeof CredentialRotation>;

const CredentialRestoration = s.object('CredentialRestoration', {
  version: s.optional(
    s
      .whole(1, Number.MAX_SAFE_INTEGER)
      .description('Whose value is to be used again; else the last'),
  ),
  overlapMinutes: s.optional(
    s.whole(0, 43_200).description('How long the one that it replaces stays good; 60 unless given'),
  ),
});
export type CredentialRestoration = s.Static<typeof CredentialRestoration>;

export const CredentialVersion = s.object('CredentialVersion', {
  version: s.whole(1, Number.MAX_SAFE_INTEGER),
  createdAt: s.time(),
  validUntil: s.nullable(s.time()).description('null: the one that is used'),
});
export type CredentialVersion = s.Static<typeof CredentialVersion>;

export const vault = contract({
  list: endpoint.get('/api/vault', {
    summary: 'List credentials',
    query: pageQuery('CredentialQuery', { type: s.optional(type()) }),
    reply: pageOf('credentials', Credential),
  }),
  create: endpoint.post('/api/vault', {
    summary: 'Store a credential',
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
    summary: 'Show a credential, but not its value',
    reply: Credential,
  }),
  update: endpoint.patch('/api/vault/{id}', {
    summary: 'Update a credential: all but its value',
    audit: 'vault.update',
    example: { description: 'Of the bot account', tags: ['forge'] },
    body: CredentialChanges,
    reply: Credential,
  }),
  delete: endpoint.delete('/api/vault/{id}', {
    summary: 'Delete a credential and all its versions',
    audit: 'vault.delete',
  }),
  rotate: endpoint.post('/api/vault/{id}/rotate', {
    summary: 'Rotate a credential; the value before stays good until the overlap ends',
    audit: 'vault.rotate',
    example: { value: 'ghp_AnotherAnotherAnother', overlapMinutes: 60 },
    body: CredentialRotation,
    reply: s.object('RotatedCredential', {
      credential: Credential,
      value: s.optional(s.text(100).description('Where it was generated; shown this once')),
    }),
    secret: true,
  }),
  versions: endpoint.get('/api/vault/{id}/versions', {
    summary: 'List the versions of a credential that are good, but not their values',
    reply: s.object('CredentialVersions', { versions: s.list(CredentialVersion, 1000) }),
  }),
  restore: endpoint.post('/api/vault/{id}/restore', {
    summary: 'Use the value of an earlier version again, while its overlap lasts',
    audit: 'vault.restore',
    example: { version: 1 },
    body: CredentialRestoration,
    reply: Credential,
  }),
  reveal: endpoint.post('/api/vault/{id}/reveal', {
    summary: 'Show the value of a credential, behind your password',
    personal: true,
    audit: 'vault.reveal',
    example: { password: 'a sentence that Grace alone knows' },
    body: s.object('Reveal', { password: s.text(256) }),
    reply: s.object('RevealedCredential', { value: s.text(65_536) }),
    secret: true,
  }),
  rekey: endpoint.post('/api/admin/vault/rekey', {
    summary: 'Make a new master key and put all secrets under it',
    access: 'admin',
    personal: true,
    audit: 'vault.rekey',
    reply: s.object('Rekeying', {
      rewrapped: s.whole(0, Number.MAX_SAFE_INTEGER).description('Secrets under the new key'),
      finishedAt: s.time(),
    }),
  }),
});
