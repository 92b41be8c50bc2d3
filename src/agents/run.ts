import type { Approval } from '../approvals/approval.js';
import type { ApprovalRows } from '../approvals/rows.js';
import type { Log } from '../kernel/log.js';
import type { PermissionsOf } from '../permissions/effective.js';
import { Unmet } from '../store/engine/protocol.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { AllowancesOf } from './allowance.js';
import type { RunningLoop } from './control.js';
import type { Consequence, EndingDeps } from './end.js';
import type { Models } from './models.js';
import type { AgentRecord } from './record.js';
import type { AgentRows } from './rows.js';
import type { Deltas } from './textdeltas.js';
import type { Toolset } from './toolset.js';

export interface LoopDeps extends EndingDeps {
  rows: AgentRows;
  models: Models;
  approvals: ApprovalRows;
  permissionsOf: PermissionsOf;
  deltas: Deltas;
  running: Map<string, RunningLoop>;
  toolsOf(agent: AgentRow): Promise<Toolset>;
  folderOf(agent: AgentRow): Promise<string>;
  /** Returns the statements for the hooks that fire when an agent asks for an approval. */
  approvalConsequences(agent: AgentRow, approvals: Approval[]): Promise<Consequence>;
  allowancesOf: AllowancesOf;
  log: Log;
}

/** One stretch of an agent's work, from a claim of its job to its end, a pause or a stop. */
export interface AgentRun {
  /** The agent as it was when the run began. */
  agent: AgentRow;
  signal: AbortSignal;
  /** Returns the milliseconds that the agent has worked in total, this run included. */
  activeMs(): number;
}

/**
 * Thrown if the agent rests, or was paused, stopped or removed meanwhile; that is recorded already.
 */
export class AgentGone extends Error {}
/** Thrown if the agent may not go on; the message is its error. */
export class CapReached extends Error {}

/**
 * Commits a change that is possible only while the agent runs; throws AgentGone if it no longer
 * does.
 */
export const commitWhileRunning = async (record: AgentRecord): Promise<void> => {
  try {
    await record.commit();
  } catch (error) {
    if (error instanceof Unmet) throw new AgentGone();
    throw error;
  }
};
