import { seal, unseal } from '../../kernel/envelope.js';

/** Seals and opens the secrets of hooks, each bound to its hook. */
export const hookSecrets = (master: Buffer) => ({
  sealSecret: (hookId: string, secret: string): string =>
    seal(master, bound(hookId), Buffer.from(secret)),
  openSecret: (hookId: string, sealed: string): Buffer => unseal(master, bound(hookId), sealed),
});

/** Seals and opens the secrets of authenticator apps, each bound to its user. */
export const totpSecrets = (master: Buffer) => ({
  seal: (userId: string, secret: string): string =>
    seal(master, `totp:${userId}`, Buffer.from(secret)),
  unseal: (userId: string, sealed: string): string =>
    unseal(master, `totp:${userId}`, sealed).toString(),
});

const bound = (hookId: string): string => `hooks:${hookId}:secret`;
