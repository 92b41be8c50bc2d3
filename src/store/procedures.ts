import type Database from 'better-sqlite3';
import { acceptDelivery } from './procedures/accept.js';
import { admitExecution } from './procedures/admit.js';
import { claimJobs } from './procedures/claim.js';
import type { Procedure } from './worker.js';

/** Every synchronous function that runs in the database thread: prepares, then answers calls. */
const procedures = { acceptDelivery, admitExecution, claimJobs };

export type Procedures = { [N in keyof typeof procedures]: ReturnType<(typeof procedures)[N]> };

export const openProcedures = (db: Database.Database): Record<string, Procedure> =>
  Object.fromEntries(Object.entries(procedures).map(([name, open]) => [name, { run: open(db) }]));
