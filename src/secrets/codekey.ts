import { createHmac, randomBytes } from 'node:crypto';
import { unlessShut } from '../kernel/envelope.js';
import type { Log } from '../kernel/log.js';
import type { Store } from '../store/store.js';
import type { Keyring } from './keyring.js';
import { CODE_KEY } from './sealedcolumns.js';

const BOUND = `facts:${CODE_KEY}`;

/**
 * Digests of codes that are so short that a bare digest could be undone by trying them all. Their
 * key is a secret of its own, so that codes that are under way outlive a change of the master key.
 * Where it was damaged another takes its place, and those under way are none.
 */
export const openCodeDigest = async (
  { store: { db }, log }: { store: Store; log: Log },
  master: Keyring,
): Promise<(code: string) => string> => {
  const kept = await db
    .selectFrom('facts')
    .select('value')
    .where('name', '=', CODE_KEY)
    .executeTakeFirst();
  const sound = kept && unlessShut(() => master.unseal(BOUND, kept.value));
  if (kept && !sound) log.error('the key of short codes was damaged: those under way are none');
  const key = sound || randomBytes(32);
  if (!sound) {
    const value = master.seal(BOUND, key);
    const insert = db.insertInto('facts').values({ name: CODE_KEY, value });
    await insert.onConflict((on) => on.column('name').doUpdateSet({ value })).execute();
  }
  return (code) => createHmac('sha256', key).update(code).digest('hex');
};
