import { createHmac, randomBytes } from 'node:crypto';
import { unlessShut } from '../kernel/envelope.js';
import type { Log } from '../kernel/log.js';
import { readFact, writeFact } from '../store/facts.js';
import type { Store } from '../store/store.js';
import type { Keyring } from './keyring.js';
import { CODE_KEY } from './sealedcolumns.js';

const BOUND = `facts:${CODE_KEY}`;

/**
 * Returns a function that makes digests of short codes. They have a key, since plain digests of
 * such short codes could be reversed by trying all codes. The key is a secret of its own, so that
 * issued codes survive a change of the master key. If the key was damaged, a new key takes its
 * place and the issued codes become invalid.
 */
export const openCodeDigest = async (
  { store, log }: { store: Store; log: Log },
  master: Keyring,
): Promise<(code: string) => string> => {
  const kept = await readFact(store, CODE_KEY);
  const sound = kept && unlessShut(() => master.unseal(BOUND, kept));
  if (kept && !sound)
    log.error(
      'the key of short codes was damaged: a new one is made, and issued codes are invalid',
    );
  const key = sound || randomBytes(32);
  if (!sound) await writeFact(store, CODE_KEY, master.seal(BOUND, key)).execute();
  return (code) => createHmac('sha256', key).update(code).digest('hex');
};
