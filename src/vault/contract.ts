import Joi from 'joi';
import { contract } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import {
  anyText,
  flag,
  id,
  ignoring,
  list,
  moment,
  nullable,
  object,
  oneOf,
  optional,
  type Static,
  text,
  time,
  whole,
} from '../kernel/contract/schema.js';

const type = () =>
  oneOf(
    'CredentialType',
    'api_key',
    'oauth_token',
    'password',
    'ssh_key',
    'certificate',
    'webhook_secret',
    'other',
  );
const value = () => text(65_536).description('Write-only');
const name = () =>
  Joi.string<string>()
    .pattern(/^[A-Za-z0-9][\w.-]{0,99}$/, 'letters, digits, ".", "_" and "-"')
    .example('github-pat');
const tools = () =>
  list(Joi.string<string>().pattern(/^[\w.:-]{1,100}$/, 'the name of a tool'), 100).description(
    'Tools that it may be put into: http.request, or http for all of a skill',
  );
const hosts = () =>
  list(
    Joi.string<string>()
      .lowercase()
      .pattern(/^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]+\])(?::\d{1,5})?$/, 'a host')
      .example('api.github.com'),
    100,
  ).description(
    'Hosts that it may be sent to by https, with a port where it is another; :80 for plain http',
  );
const expiry = () => nullable(moment()).description('From then on it is used no more');

const given = {
  description: optional(nullable(anyText(2000))),
  tags: optional(list(text(60), 50)),
  allowedTools: optional(tools()),
  allowedHosts: optional(hosts()),
  expiresAt: optional(expiry()),
  rotateEveryDays: optional(
    nullable(whole(1, 3650)).description(
      'You are reminded when it is due; nothing rotates by itself',
    ),
  ),
};

export const Credential = object('Credential', {
  id: id('credential'),
  name: text(100),
  type: type(),
  description: nullable(anyText(2000)),
  tags: list(text(60)),
  allowedTools: list(text(100)),
  allowedHosts: list(text(300)),
  version: whole(1, Number.MAX_SAFE_INTEGER),
  expiresAt: nullable(time()),
  rotateEveryDays: nullable(whole(1, 3650)),
  rotateDueAt: nullable(time()),
  lastUsedAt: nullable(time()).description('To the minute'),
  rotatedAt: nullable(time()),
  createdAt: time(),
  updatedAt: time(),
});
export type Credential = Static<typeof Credential>;

const NewCredential = object('NewCredential', {
  name: name(),
  value: value(),
  type: optional(type()),
  ...given,
});
export type NewCredential = Static<typeof NewCredential>;

const CredentialChanges = ignoring(
  object('CredentialChanges', { name: optional(name()), type: optional(type()), ...given }),
  ...['id', 'version', 'rotateDueAt', 'lastUsedAt', 'rotatedAt', 'createdAt', 'updatedAt'],
).min(1);
export type CredentialChanges = Static<typeof CredentialChanges>;

const CredentialRotation = object('CredentialRotation', {
  value: optional(value().description('Write-only; required, unless one is generated')),
  generate: optional(
    flag().description('Makes a value, shown once; so it is without a value for a webhook_secret'),
  ),
  overlapMinutes: optional(
    whole(0, 43_200).description('How long the one before it stays good; 60 unless given'),
  ),
});
export type CredentialRotation = Static<typeof CredentialRotation>;

const CredentialRestoration = object('CredentialRestoration', {
  version: optional(
    whole(1, Number.MAX_SAFE_INTEGER).description('Whose value is to be used again; else the last'),
  ),
  overlapMinutes: optional(
    whole(0, 43_200).description('How long the one that it replaces stays good; 60 unless given'),
  ),
});
export type CredentialRestoration = Static<typeof CredentialRestoration>;

export const CredentialVersion = object('CredentialVersion', {
  version: whole(1, Number.MAX_SAFE_INTEGER),
  createdAt: time(),
  validUntil: nullable(time()).description('null: the one that is used'),
});
export type CredentialVersion = Static<typeof CredentialVersion>;

export const vault = contract({
  list: {
    method: 'GET',
    path: '/api/vault',
    summary: 'List credentials',
    query: pageQuery('CredentialQuery', { type: optional(type()) }),
    reply: pageOf('credentials', Credential),
  },
  create: {
    method: 'POST',
    path: '/api/vault',
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
  },
  get: {
    method: 'GET',
    path: '/api/vault/{id}',
    summary: 'Show a credential, but not its value',
    reply: Credential,
  },
  update: {
    method: 'PATCH',
    path: '/api/vault/{id}',
    summary: 'Update a credential: all but its value',
    audit: 'vault.update',
    example: { description: 'Of the bot account', tags: ['forge'] },
    body: CredentialChanges,
    reply: Credential,
  },
  delete: {
    method: 'DELETE',
    path: '/api/vault/{id}',
    summary: 'Delete a credential and all its versions',
    audit: 'vault.delete',
  },
  rotate: {
    method: 'POST',
    path: '/api/vault/{id}/rotate',
    summary: 'Rotate a credential; the value before stays good until the overlap ends',
    audit: 'vault.rotate',
    example: { value: 'ghp_AnotherAnotherAnother', overlapMinutes: 60 },
    body: CredentialRotation,
    reply: object('RotatedCredential', {
      credential: Credential,
      value: optional(text(100).description('Where it was generated; shown this once')),
    }),
    secret: true,
  },
  versions: {
    method: 'GET',
    path: '/api/vault/{id}/versions',
    summary: 'List the versions of a credential that are good, but not their values',
    reply: object('CredentialVersions', { versions: list(CredentialVersion, 1000) }),
  },
  restore: {
    method: 'POST',
    path: '/api/vault/{id}/restore',
    summary: 'Use the value of an earlier version again, while its overlap lasts',
    audit: 'vault.restore',
    example: { version: 1 },
    body: CredentialRestoration,
    reply: Credential,
  },
  reveal: {
    method: 'POST',
    path: '/api/vault/{id}/reveal',
    summary: 'Show the value of a credential, behind your password',
    personal: true,
    audit: 'vault.reveal',
    example: { password: 'a sentence that Grace alone knows' },
    body: object('Reveal', { password: text(256) }),
    reply: object('RevealedCredential', { value: text(65_536) }),
    secret: true,
  },
  rekey: {
    method: 'POST',
    path: '/api/admin/vault/rekey',
    summary: 'Make a new master key and put all secrets under it',
    access: 'admin',
    personal: true,
    audit: 'vault.rekey',
    reply: object('Rekeying', {
      rewrapped: whole(0, Number.MAX_SAFE_INTEGER).description('Secrets under the new key'),
      finishedAt: time(),
    }),
  },
});
