import type { OverlapDeps } from '../../secrets/overlap.js';
import { Secret } from '../../secrets/secret.js';

type Open = OverlapDeps['openSecret'];

/** The secrets that are open while messages are on their way. */
export interface SecretCache {
  open: Open;
  /**
   * Runs the sending of one message of that webhook. A secret that it opens also serves the
   * webhook's other messages meanwhile.
   */
  during<T>(id: string, way: () => Promise<T>): Promise<T>;
}

interface CachedSecrets {
  underway: number;
  bySeal: Map<string, Buffer>;
}

/**
 * Creates the cache. To open a secret costs a fifth of what a message costs, so of a thousand
 * messages for one webhook only the first opens it. When the last message under way ends, the
 * webhook's secrets are erased.
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
