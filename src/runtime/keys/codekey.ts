import { createHmac, randomBytes } from 'node:crypto';
import type { Store } from '../../store/store.js';
import type { Keyring } from './keyring.js';
import { CODE_KEY } from './sealed.js';

const BOUND = `facts:${CODE_KEY}`;

/**
 * Digests of codes that are so short that a bare digest could be undone by trying them all. Their
 * key is a secret of its own, so that codes that are under way outlive a change of the master key.
 */
export const openCodeDigest = async (
  { db }: Store,
  master: Keyring,
): Promise<(code: string) => string> => {
  const kept = await db
    .selectFrom('facts')
    .select('value')
    .where('name', '=', CODE_KEY)
    .executeTakeFirst();
  const key = kept ? master.unseal(BOUND, kept.value) : randomBytes(32);
  if (!kept) {
    const value = master.seal(BOUND, key);
    await db.insertInto('facts').values({ name: CODE_KEY, value }).execute();
  }
  return (code) => createHmac('sha256', key).update(code).digest('hex');
};
