import { createHmac, hkdfSync } from 'node:crypto';
import type { CredentialVersionRow } from '../../store/tables/vault.js';
import { Secret } from '../vault/secret.js';
import type { Keyring } from './keyring.js';

/** What the master key opens, by what it is for. */
export const secretsOf = (master: Keyring) => ({
  hooks: hookSecrets(master),
  totp: totpSecrets(master),
  mcp: mcpSecrets(master),
  models: modelSecrets(master),
  vault: vaultSecrets(master),
});

/** Seals and opens the secrets of hooks, each bound to its hook. */
const hookSecrets = (master: Keyring) => ({
  sealSecret: (hookId: string, secret: string): string =>
    master.seal(bound(hookId), Buffer.from(secret)),
  openSecret: (hookId: string, sealed: string): Buffer => master.unseal(bound(hookId), sealed),
});

/** Seals and opens the secrets of authenticator apps, each bound to its user. */
const totpSecrets = (master: Keyring) => textSecrets(master, 'totp');

/** Seals and opens the environments and headers of MCP servers, each bound to its server. */
const mcpSecrets = (master: Keyring) => textSecrets(master, 'mcp');

/** Seals and opens the API keys of models, each bound to its model. */
const modelSecrets = (master: Keyring) => ({
  sealKey: (modelId: string, key: string): string =>
    master.seal(`models:${modelId}:key`, Buffer.from(key)),
  unsealKey: (modelId: string, sealed: string): string =>
    master.unseal(`models:${modelId}:key`, sealed).toString(),
});

/** Seals and opens what credentials hold, each bound to its owner, credential and version. */
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

/** Digests of codes that are so short that a bare digest could be undone by trying them all. */
export const codeDigest = (master: Buffer): ((code: string) => string) => {
  const key = Buffer.from(hkdfSync('sha256', master, '', 'link_codes', 32));
  return (code) => createHmac('sha256', key).update(code).digest('hex');
};

const bound = (hookId: string): string => `hooks:${hookId}:secret`;
