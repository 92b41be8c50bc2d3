import type { OverlapDeps } from '../keys/overlap.js';
import { Secret } from '../vault/secret.js';

type Open = OverlapDeps['openSecret'];

/** Secrets that are open while messages are on their way. */
export interface Opened {
  open: Open;
  /** One message's way: what it opens serves all that are on theirs meanwhile. */
  during<T>(way: () => Promise<T>): Promise<T>;
}

/**
 * To open a secret costs a fifth of what a message costs: of a thousand for one webhook the first
 * does. With the last message under way all are forgotten.
 */
export const openedTogether = (openSecret: Open): Opened => {
  const opened = new Map<string, Buffer>();
  let underway = 0;

  const forget = (): void => {
    for (const bytes of opened.values()) bytes.fill(0);
    opened.clear();
  };

  return {
    open: (id, sealed) => {
      const name = `${id} ${sealed}`;
      const bytes =
        opened.get(name) ?? openSecret(id, sealed).take((secret) => Buffer.from(secret));
      opened.set(name, bytes);
      return new Secret(Buffer.from(bytes));
    },
    during: async (way) => {
      underway++;
      try {
        return await way();
      } finally {
        if (--underway === 0) forget();
      }
    },
  };
};
