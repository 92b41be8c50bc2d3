import { createHmac, randomBytes } from 'node:crypto';
import { unsealOrNull } from '../kernel/envelope.js';
import type { Log } from '../kernel/log.js';
import { readFact, writeFact } from '../store/facts.js';
import type { Store } from '../store/store.js';
import type { Keyring } from './keyring.js';
import { CODE_KEY } from './sealedcolumns.js';

const BOUND = `facts:${CODE_KEY}`;

/**
 * Returns a function for keyed digests of short codes: unkeyed digests could be reversed by trying all
 * codes. The key does not depend on the master key, so that issued codes survive a change of it. A
 * damaged key is replaced, which invalidates the issued codes.
 */
export const openCodeDigest = async (
  { store, log }: { store: Store; log: Log },
  master: Keyring,
): Promise<(code: string) => string> => {
  const stored = await readFact(store, CODE_KEY);
  const opened = stored && unsealOrNull(() => master.unseal(BOUND, stored));
  if (stored && !opened)
    log.error(
      'the key for short codes is damaged: a new key was created, issued codes are invalid',
    );
  const key = opened || randomBytes(32);
  if (!opened) await writeFact(store, CODE_KEY, master.seal(BOUND, key)).execute();
  return (code) => createHmac('sha256', key).update(code).digest('hex');
};
