import type Database from 'better-sqlite3';
import { EnvelopeError, unseal } from '../../kernel/envelope.js';
import type { ThreadOptions } from '../engine/protocol.js';

/** Of facts: the key of the MACs, once the master key that it followed from is no more. */
export const AUDIT_FACT = 'audit_key';
export const AUDIT_BOUND = `facts:${AUDIT_FACT}`;

/**
 * The key that the chain was begun with: it stays while master keys come and go. With a wrong
 * master key it is a wrong one too; the start refuses that one before anything is written.
 */
export const auditKeyIn = (
  db: Database.Database,
  { auditKey, comingAuditKey }: Pick<ThreadOptions, 'auditKey' | 'comingAuditKey'>,
): Uint8Array => {
  const kept = db
    .prepare<[string], string>('SELECT value FROM facts WHERE name = ?')
    .pluck()
    .get(AUDIT_FACT);
  if (kept === undefined) return auditKey;
  const keys = comingAuditKey === undefined ? [auditKey] : [auditKey, comingAuditKey];
  for (const key of keys) {
    try {
      return unseal(Buffer.from(key), AUDIT_BOUND, kept);
    } catch (error) {
      if (!(error instanceof EnvelopeError)) throw error;
    }
  }
  return auditKey;
};
