import type Database from 'better-sqlite3';
import { beginAgent } from './agents/procedures/begin.js';
import { agentNotices } from './agents/procedures/notices.js';
import { reserveCall } from './agents/procedures/reserve.js';
import { agentSnapshot } from './agents/procedures/snapshot.js';
import { resultChannel } from './channels/procedures.js';
import { acceptDelivery } from './hooks/procedures/accept.js';
import { admitExecution, admitUnlimited } from './hooks/procedures/admit.js';
import { claimExecutions, oldestWait } from './hooks/procedures/claim.js';
import { closeExecution, endExecutions } from './hooks/procedures/end.js';
import { findTriggeredHooks, namedExecution } from './hooks/procedures/fire.js';
import { claimJobs } from './jobs/procedures.js';
import { recalledMemories } from './memories/procedures.js';
import { postEvent, postNotice } from './outbound/procedures/post.js';
import { beginMessages } from './outbound/procedures/send.js';
import { settleMessage } from './outbound/procedures/settle.js';
import { appendAudit } from './store/audit/chain.js';
import { checkAudit } from './store/audit/check.js';
import { contradictedHeads, headsState } from './store/audit/headcheck.js';
import { lostHead } from './store/audit/headrows.js';
import { auditKeyIn } from './store/audit/key.js';
import type { ThreadOptions } from './store/engine/protocol.js';
import type { Procedure } from './store/thread/batches.js';
import { checkTable } from './system/backup/procedures.js';

/** Procedures of the writer thread: each prepares its statements, then takes calls. */
const procedures = {
  admitExecution,
  admitUnlimited,
  beginAgent,
  reserveCall,
  claimJobs: (db: Database.Database) =>
    claimJobs(db, { begin: beginMessages(db), executions: claimExecutions(db) }),
  closeExecution,
  endExecutions,
  beginMessages,
  settleMessage,
  postNotice,
  postEvent,
  appendAudit,
};
/** Procedures of the writer thread that take all consecutive calls at once. */
const together = { acceptDelivery };
const lookups = {
  agentSnapshot,
  agentNotices,
  resultChannel,
  recalledMemories,
  firedHooks: findTriggeredHooks,
  namedExecution,
  checkAudit,
  contradictedHeads,
  headsState,
  lostHead,
  checkTable,
  oldestWait,
};

type Each<F> = F extends (inputs: (infer I)[]) => (infer O)[] ? (input: I) => O : never;
export type Procedures = {
  [N in keyof typeof procedures]: ReturnType<(typeof procedures)[N]>;
} & { [N in keyof typeof together]: Each<ReturnType<(typeof together)[N]>> };
export type Lookups = { [N in keyof typeof lookups]: ReturnType<(typeof lookups)[N]> };

/** By name, for the role of a thread. The lanes of queued jobs are added to `queued`. */
export const openProcedures = (
  db: Database.Database,
  options: ThreadOptions,
  queued: string[] = [],
): Record<string, Procedure> => {
  const threadOptions = { ...options, auditKey: auditKeyIn(db, options), queued };
  const isWriter = options.role === 'writer';
  const opened: Record<string, Procedure> = {};
  for (const [name, open] of Object.entries(isWriter ? procedures : {})) {
    opened[name] = oneByOne({ run: open(db, threadOptions) });
  }
  for (const [name, open] of Object.entries(isWriter ? together : {})) {
    opened[name] = { run: open(db, threadOptions) };
  }
  for (const [name, open] of Object.entries(lookups)) {
    opened[name] = oneByOne(atFirstUse(() => ({ run: open(db, threadOptions) })));
  }
  return opened;
};

/** A procedure that takes one call at a time. */
interface SingleCall {
  run(input: unknown): unknown;
}

/** Opened on first use, since few lookups are called in a thread. */
const atFirstUse = (open: () => SingleCall): SingleCall => {
  let opened: SingleCall | null = null;
  return {
    run: (input) => {
      opened ??= open();
      return opened.run(input);
    },
  };
};

const oneByOne = (each: SingleCall): Procedure => ({
  run: (inputs) => inputs.map((one) => each.run(one)),
});
