import type Database from 'better-sqlite3';
import { appendAudit } from '../audit/chain.js';
import { checkAudit } from '../audit/check.js';
import { contradictedHeads, headsState } from '../audit/headcheck.js';
import { lostHead } from '../audit/headrows.js';
import { auditKeyIn } from '../audit/key.js';
import type { ThreadOptions } from '../engine/protocol.js';
import { acceptDelivery } from '../procedures/accept.js';
import { admitExecution } from '../procedures/admit.js';
import { claimJobs } from '../procedures/claim.js';
import { checkTable } from '../procedures/integrity.js';
import { reserveCall } from '../procedures/reserve.js';
import { beginSendings } from '../procedures/send.js';
import { settleSending } from '../procedures/settle.js';
import type { Procedure } from './batches.js';

/** The procedures of the writer thread: each prepares its statements, then takes calls. */
const procedures = {
  ...{ admitExecution, claimJobs, reserveCall },
  ...{ beginSendings, settleSending, appendAudit },
};
/** Procedures of the writer thread that get all successive calls as one. */
const together = { acceptDelivery };
/** The procedures of the reader thread. */
const lookups = { checkAudit, contradictedHeads, headsState, lostHead, checkTable };

type Each<F> = F extends (inputs: (infer I)[]) => (infer O)[] ? (input: I) => O : never;
export type Procedures = {
  [N in keyof typeof procedures]: ReturnType<(typeof procedures)[N]>;
} & { [N in keyof typeof together]: Each<ReturnType<(typeof together)[N]>> };
export type Lookups = { [N in keyof typeof lookups]: ReturnType<(typeof lookups)[N]> };

/** Returns the procedures for a thread's role, by name. */
export const openProcedures = (
  db: Database.Database,
  options: ThreadOptions,
): Record<string, Procedure> => {
  const given = { ...options, auditKey: auditKeyIn(db, options) };
  const isWriter = options.role === 'writer';
  const opened: Record<string, Procedure> = {};
  for (const [name, open] of Object.entries(isWriter ? procedures : lookups)) {
    opened[name] = oneByOne({ run: open(db, given) });
  }
  for (const [name, open] of Object.entries(isWriter ? together : {})) {
    opened[name] = { run: open(db) };
  }
  return opened;
};

const oneByOne = (each: { run(input: unknown): unknown }): Procedure => ({
  run: (inputs) => inputs.map((one) => each.run(one)),
});
