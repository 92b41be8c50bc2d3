import { type OverlapDeps, Secret } from '../../secrets/module.js';

type OpenSecret = OverlapDeps['openSecret'];

interface CachedSecrets {
  underway: number;
  bySeal: Map<string, Buffer>;
}

/**
 * Opening a secret costs a fifth of sending a message. Erased when the last message of the webhook
 * ends.
 */
export const createSecretCache = (openSecret: OpenSecret) => {
  const cached = new Map<string, CachedSecrets>();

  const leave = (id: string, of: CachedSecrets): void => {
    if (--of.underway > 0) return;
    cached.delete(id);
    for (const bytes of of.bySeal.values()) bytes.fill(0);
  };

  return {
    open: (id: string, sealed: string): Secret => {
      const bySeal = cached.get(id)?.bySeal;
      if (!bySeal) return openSecret(id, sealed);
      const bytes =
        bySeal.get(sealed) ?? openSecret(id, sealed).take((secret) => Buffer.from(secret));
      bySeal.set(sealed, bytes);
      return new Secret(Buffer.from(bytes));
    },
    /** Shares an opened secret with concurrent messages. */
    during: async <T>(id: string, way: () => Promise<T>): Promise<T> => {
      const of = cached.get(id) ?? { underway: 0, bySeal: new Map() };
      cached.set(id, of);
      of.underway++;
      try {
        return await way();
      } finally {
        leave(id, of);
      }
    },
  };
};
