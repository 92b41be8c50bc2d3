import { EnvelopeError, seal, unseal } from '../kernel/envelope.js';
import { AUDIT_BOUND, AUDIT_FACT } from '../store/audit/key.js';
import { readFact, writeFact } from '../store/facts.js';
import type { Store } from '../store/store.js';
import { deriveAuditKey } from './auditmac.js';
import type { Keyring } from './keyring.js';

/** Seals the original key of the audit chain under the newest master key. */
export const keepAuditKey = async (store: Store, keyring: Keyring): Promise<void> => {
  const fact = await readFact(store, AUDIT_FACT);
  const [newest, oldest] = [keyring.newest, keyring.all.at(-1) ?? keyring.newest];
  const key = fact ? unsealWithAny(keyring, fact) : Buffer.from(deriveAuditKey(oldest));
  const value = seal(Buffer.from(deriveAuditKey(newest)), AUDIT_BOUND, key);
  await writeFact(store, AUDIT_FACT, value).execute();
};

const unsealWithAny = ({ all }: Keyring, sealed: string): Buffer => {
  for (const master of all) {
    try {
      return unseal(Buffer.from(deriveAuditKey(master)), AUDIT_BOUND, sealed);
    } catch (error) {
      if (!(error instanceof EnvelopeError)) throw error;
    }
  }
  throw new EnvelopeError();
};
