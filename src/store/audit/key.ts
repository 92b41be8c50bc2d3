import type Database from 'better-sqlite3';
import { EnvelopeError, unseal } from '../../kernel/envelope.js';
import type { ThreadOptions } from '../engine/protocol.js';

/** Fact with the MAC key, stored when the master key it was derived from is replaced. */
export const AUDIT_FACT = 'audit_key';
export const AUDIT_BOUND = `facts:${AUDIT_FACT}`;

/**
 * The key stays the same when master keys change. With a wrong master key it is wrong too, and the
 * start fails before anything is written.
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
