import type { AuditVerdict } from './accounts/audit/contract.js';
import { verifyAuditLog } from './accounts/audit/service.js';
import { readConfig } from './config.js';
import { deriveAuditKeys } from './secrets/auditmac.js';
import { readMasterKey } from './secrets/master.js';
import { readStoppedLog } from './store/audit/offline.js';

/** For a stopped daemon. Nothing in the home is written. Throws OpenRefused and BadSetting. */
export const verifyHome = async (flags: { home: string }): Promise<AuditVerdict> => {
  const { home, masterKey, auditHeads } = readConfig(flags);
  const isFile = auditHeads !== null && !auditHeads.startsWith('syslog:');
  const keys = deriveAuditKeys(readMasterKey(home, masterKey));
  return readStoppedLog({ home, ...keys, ...(isFile && { auditHeads }) }, verifyAuditLog);
};
