import { seal, unseal } from '../../kernel/envelope.js';

/** Seals and opens the secrets of hooks, each bound to its hook. */
export const hookSecrets = (master: Buffer) => ({
  sealSecret: (hookId: string, secret: string): string =>
    seal(master, bound(hookId), Buffer.from(secret)),
  openSecret: (hookId: string, sealed: string): Buffer => unseal(master, bound(hookId), sealed),
});

const bound = (hookId: string): string => `hooks:${hookId}:secret`;
