import { hkdfSync } from 'node:crypto';
import type { Keyring } from './keyring.js';

/**
 * Derives the audit key from a master key. The audit log's MACs depend on it, so the database alone
 * is not enough to make one.
 */
export const auditKeyOf = (master: Buffer): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', master, '', 'audit', 32));

/**
 * Returns the keys with which the database thread opens the audit key: one derived from the current
 * master key and, during a change, one from the coming master key.
 */
export const auditKeysOf = ({ all, newest }: Keyring) => {
  const auditKey = auditKeyOf(all.at(-1) ?? newest);
  return all.length > 1 ? { auditKey, comingAuditKey: auditKeyOf(newest) } : { auditKey };
};
