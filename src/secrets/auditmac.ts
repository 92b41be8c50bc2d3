import { hkdfSync } from 'node:crypto';
import type { Keyring } from './keyring.js';

/** The MACs of the audit log depend on this key, so the database alone is not enough to forge one. */
export const deriveAuditKey = (master: Buffer): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', master, '', 'audit', 32));

/** During a change of the master key, also the audit key that is derived from the new one. */
export const deriveAuditKeys = ({ all, newest }: Keyring) => {
  const auditKey = deriveAuditKey(all.at(-1) ?? newest);
  return all.length > 1 ? { auditKey, comingAuditKey: deriveAuditKey(newest) } : { auditKey };
};
