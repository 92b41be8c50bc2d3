import { createHmac, hkdfSync } from 'node:crypto';
import { seal, unseal } from '../../kernel/envelope.js';

/** What the master key opens, by what it is for. */
export const secretsOf = (master: Buffer) => ({
  hooks: hookSecrets(master),
  totp: totpSecrets(master),
  mcp: mcpSecrets(master),
  models: modelSecrets(master),
});

/** Seals and opens the secrets of hooks, each bound to its hook. */
const hookSecrets = (master: Buffer) => ({
  sealSecret: (hookId: string, secret: string): string =>
    seal(master, bound(hookId), Buffer.from(secret)),
  openSecret: (hookId: string, sealed: string): Buffer => unseal(master, bound(hookId), sealed),
});

/** Seals and opens the secrets of authenticator apps, each bound to its user. */
const totpSecrets = (master: Buffer) => textSecrets(master, 'totp');

/** Seals and opens the environments and headers of MCP servers, each bound to its server. */
const mcpSecrets = (master: Buffer) => textSecrets(master, 'mcp');

/** Seals and opens the API keys of models, each bound to its model. */
const modelSecrets = (master: Buffer) => ({
  sealKey: (modelId: string, key: string): string =>
    seal(master, `models:${modelId}:key`, Buffer.from(key)),
  unsealKey: (modelId: string, sealed: string): string =>
    unseal(master, `models:${modelId}:key`, sealed).toString(),
});

const textSecrets = (master: Buffer, kind: string) => ({
  seal: (id: string, secret: string): string => seal(master, `${kind}:${id}`, Buffer.from(secret)),
  unseal: (id: string, sealed: string): string =>
    unseal(master, `${kind}:${id}`, sealed).toString(),
});

/** Digests of codes that are so short that a bare digest could be undone by trying them all. */
export const codeDigest = (master: Buffer): ((code: string) => string) => {
  const key = Buffer.from(hkdfSync('sha256', master, '', 'link_codes', 32));
  return (code) => createHmac('sha256', key).update(code).digest('hex');
};

/** Of the MACs of the audit log: whoever has only the database cannot make one. */
export const auditKeyOf = (master: Buffer): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', master, '', 'audit', 32));

const bound = (hookId: string): string => `hooks:${hookId}:secret`;
