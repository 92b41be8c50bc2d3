import type { OverlapDeps } from '../../secrets/overlap.js';
import { Secret } from '../../secrets/secret.js';

type Open = OverlapDeps['openSecret'];

/** Secrets that are open while messages are on their way. */
export interface SecretCache {
  open: Open;
  /** The way of one message of that webhook: what it opens serves its others meanwhile. */
  during<T>(id: string, way: () => Promise<T>): Promise<T>;
}

interface CachedSecrets {
  underway: number;
  bySeal: Map<string, Buffer>;
}

/**
 * To open a secret costs a fifth of what a message costs: of a thousand for one webhook the first
 * does. With its last message under way a webhook's secrets are forgotten.
 */
export const openedTogether = (openSecret: Open): SecretCache => {
  const held = new Map<string, CachedSecrets>();

  const leave = (id: string, of: CachedSecrets): void => {
    if (--of.underway > 0) return;
    held.delete(id);
    for (const bytes of of.bySeal.values()) bytes.fill(0);
  };

  return {
    open: (id, sealed) => {
      const bySeal = held.get(id)?.bySeal;
      if (!bySeal) return openSecret(id, sealed);
      const bytes =
        bySeal.get(sealed) ?? openSecret(id, sealed).take((secret) => Buffer.from(secret));
      bySeal.set(sealed, bytes);
      return new Secret(Buffer.from(bytes));
    },
    during: async (id, way) => {
      const of = held.get(id) ?? { underway: 0, bySeal: new Map() };
      held.set(id, of);
      of.underway++;
      try {
        return await way();
      } finally {
        leave(id, of);
      }
    },
  };
};
