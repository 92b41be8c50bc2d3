import { EnvelopeError, seal, unseal } from '../kernel/envelope.js';
import { AUDIT_BOUND, AUDIT_FACT } from '../store/audit/key.js';
import { type Store, statement } from '../store/store.js';
import { auditKeyOf } from './auditmac.js';
import type { Keyring } from './keyring.js';

/** Seals the original key of the audit log's chain under the newest master key. */
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
