import type Database from 'better-sqlite3';
import { appendAudit } from './audit/chain.js';
import { checkAudit, contradictedHeads } from './audit/check.js';
import { auditKeyIn } from './audit/key.js';
import { acceptDelivery } from './procedures/accept.js';
import { admitExecution } from './procedures/admit.js';
import { claimJobs } from './procedures/claim.js';
import { checkTable } from './procedures/integrity.js';
import { beginSending } from './procedures/send.js';
import type { ThreadOptions } from './protocol.js';
import type { Procedure } from './worker.js';

/** Every synchronous function that runs in the writing thread: prepares, then answers calls. */
const procedures = { acceptDelivery, admitExecution, claimJobs, beginSending, appendAudit };
/** The same in the reading thread. */
const lookups = { checkAudit, contradictedHeads, checkTable };

export type Procedures = { [N in keyof typeof procedures]: ReturnType<(typeof procedures)[N]> };
export type Lookups = { [N in keyof typeof lookups]: ReturnType<(typeof lookups)[N]> };

/** Those of a thread's role, by name. */
export const openProcedures = (
  db: Database.Database,
  options: ThreadOptions,
): Record<string, Procedure> => {
  const all = options.role === 'writer' ? procedures : lookups;
  const given = { ...options, auditKey: auditKeyIn(db, options) };
  return Object.fromEntries(
    Object.entries(all).map(([name, open]) => [name, { run: open(db, given) }]),
  );
};
