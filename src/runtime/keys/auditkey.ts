import { hkdfSync } from 'node:crypto';
import { EnvelopeError, seal, unseal } from '../../kernel/envelope.js';
import { AUDIT_BOUND, AUDIT_FACT } from '../../store/audit/key.js';
import { type Store, statement } from '../../store/store.js';
import type { Keyring } from './keyring.js';

/** Of the MACs of the audit log: whoever has only the database cannot make one. */
const auditKeyOf = (master: Buffer): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', master, '', 'audit', 32));

/** What the database thread finds the key with: of the master key, and of one that is coming. */
export const auditKeysOf = ({ all, newest }: Keyring) => {
  const auditKey = auditKeyOf(all.at(-1) ?? newest);
  return all.length > 1 ? { auditKey, comingAuditKey: auditKeyOf(newest) } : { auditKey };
};

/** Puts the key that the chain was begun with under the newest master key. */
export const keepAuditKey = async ({ db, transact }: Store, keyring: Keyring): Promise<void> => {
  const fact = await db
    .selectFrom('facts')
    .select('value')
    .where('name', '=', AUDIT_FACT)
    .executeTakeFirst();
  const [newest, oldest] = [keyring.newest, keyring.all.at(-1) ?? keyring.newest];
  const key = fact ? opened(keyring, fact.value) : Buffer.from(auditKeyOf(oldest));
  const value = seal(Buffer.from(auditKeyOf(newest)), AUDIT_BOUND, key);
  const insert = db.insertInto('facts').values({ name: AUDIT_FACT, value });
  const keep = insert.onConflict((of) => of.column('name').doUpdateSet({ value }));
  await transact([statement(keep, 1)]);
};

const opened = ({ all }: Keyring, sealed: string): Buffer => {
  for (const master of all) {
    try {
      return unseal(Buffer.from(auditKeyOf(master)), AUDIT_BOUND, sealed);
    } catch (error) {
      if (!(error instanceof EnvelopeError)) throw error;
    }
  }
  throw new EnvelopeError();
};
