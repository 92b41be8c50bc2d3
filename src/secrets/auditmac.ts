import { hkdfSync } from 'node:crypto';
import type { Keyring } from './keyring.js';

/** Returns the key of the audit log's MACs. With the database alone nobody can compute it. */
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
