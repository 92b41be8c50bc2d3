import type { CredentialVersionRow } from '../store/tables/vault.js';
import type { Keyring } from './keyring.js';
import { Secret } from './secret.js';

/** Creates the functions that seal and open secrets, grouped by their use. */
export const createSealers = (master: Keyring) => ({
  hooks: hookSecrets(master),
  webhooks: webhookSecrets(master),
  channels: channelSecrets(master),
  totp: totpSecrets(master),
  mcp: mcpSecrets(master),
  models: modelSecrets(master),
  vault: vaultSecrets(master),
  tunnel: tunnelSecrets(master),
});

/** Seals and opens the secrets of hooks, each bound to its hook. */
const hookSecrets = (master: Keyring) => ({
  sealSecret: (hookId: string, secret: string): string =>
    master.seal(bound(hookId), Buffer.from(secret)),
  openSecret: (hookId: string, sealed: string): Secret =>
    new Secret(master.unseal(bound(hookId), sealed)),
});

/** Seals and opens the secrets of outgoing webhooks, each bound to its webhook. */
const webhookSecrets = (master: Keyring) => ({
  sealSecret: (webhookId: string, secret: string): string =>
    master.seal(`webhooks:${webhookId}:secret`, Buffer.from(secret)),
  openSecret: (webhookId: string, sealed: string): Secret =>
    new Secret(master.unseal(`webhooks:${webhookId}:secret`, sealed)),
});

/** Seals and opens the secrets of webhook channels, each bound to its channel, and of platforms. */
const channelSecrets = (master: Keyring) => ({
  sealChannelSecret: (channelId: string, secret: string): string =>
    master.seal(`channels:${channelId}:secret`, Buffer.from(secret)),
  openChannelSecret: (channelId: string, sealed: string): Secret =>
    new Secret(master.unseal(`channels:${channelId}:secret`, sealed)),
  sealPlatform: (kind: string, secrets: string): string =>
    master.seal(`platforms:${kind}`, Buffer.from(secrets)),
  unsealPlatform: (kind: string, sealed: string): string =>
    master.unseal(`platforms:${kind}`, sealed).toString(),
});

/** Seals and opens the secrets of authenticator apps, each bound to its user. */
const totpSecrets = (master: Keyring) => textSecrets(master, 'totp');

/** Seals and opens the environments and headers of MCP servers, each bound to its server. */
const mcpSecrets = (master: Keyring) => textSecrets(master, 'mcp');

/** Seals and opens the token with which a tunnel's program logs in. */
const tunnelSecrets = (master: Keyring) => textSecrets(master, 'tunnel');

/** Seals and opens the API keys of models, each bound to its model. */
const modelSecrets = (master: Keyring) => ({
  sealKey: (modelId: string, key: string): string =>
    master.seal(`models:${modelId}:key`, Buffer.from(key)),
  unsealKey: (modelId: string, sealed: string): string =>
    master.unseal(`models:${modelId}:key`, sealed).toString(),
});

/** Seals and opens the values of credentials, each bound to its owner, credential and version. */
const vaultSecrets = (master: Keyring) => ({
  sealVersion: (of: Version, value: string): string => master.seal(boundOf(of), Buffer.from(value)),
  openVersion: (of: Version & { sealed: string }): Secret =>
    new Secret(master.unseal(boundOf(of), of.sealed)),
});

type Version = Pick<CredentialVersionRow, 'user_id' | 'credential_id' | 'version'>;
const boundOf = ({ user_id, credential_id, version }: Version): string =>
  `vault:${user_id}:${credential_id}:${version}`;

const textSecrets = (master: Keyring, kind: string) => ({
  seal: (id: string, secret: string): string => master.seal(`${kind}:${id}`, Buffer.from(secret)),
  unseal: (id: string, sealed: string): string => master.unseal(`${kind}:${id}`, sealed).toString(),
});

const bound = (hookId: string): string => `hooks:${hookId}:secret`;
