import { hkdfSync } from 'node:crypto';
import type { Keyring } from './keyring.js';

/** Of the MACs of the audit log: whoever has only the database cannot make one. */
export const auditKeyOf = (master: Buffer): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', master, '', 'audit', 32));

/** What the database thread finds the key with: of the master key, and of one that is coming. */
export const auditKeysOf = ({ all, newest }: Keyring) => {
  const auditKey = auditKeyOf(all.at(-1) ?? newest);
  return all.length > 1 ? { auditKey, comingAuditKey: auditKeyOf(newest) } : { auditKey };
};
