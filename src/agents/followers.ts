import type { Approval } from '../approvals/module.js';
import { NOTHING, type Notice, type QueuedMessage } from '../outbound/module.js';
import type { Statement } from '../store/engine/protocol.js';
import type { AgentRow } from '../store/tables/agents.js';

export type AgentOutcome =
  | {
      status: 'completed';
      result: string;
      /** Sentence for readers of the result. */
      note?: string;
    }
  | { status: 'failed'; error: string };

/** Statements that belong to a change of an agent, and what to do after their commit. */
export interface FollowUp {
  statements: Statement[];
  committed(): void;
}

/** The end of the execution that spawned an agent, as outgoing webhooks get it. */
export interface ExecutionEnd {
  status: 'success' | 'error' | 'skipped' | 'interrupted';
  result?: unknown;
  error?: string;
}

/** Adds the statements of another module to the transaction in which an agent ends. */
export type AgentEnding = (agent: AgentRow, outcome: AgentOutcome) => Promise<FollowUp>;

/** The executions that spawn agents, which end when their agents do. */
export interface Executions {
  /** Builds the event for the end of an execution, in the transaction that ends both. */
  event(agent: AgentRow, end: ExecutionEnd): Promise<QueuedMessage>;
  /** Returns the notification about a failed execution; null if none is due. */
  failure(agent: AgentRow, error: string): Promise<Notice | null>;
  /** Called after the transaction. */
  ended(agent: AgentRow): void;
  /** Returns the statements for the hooks that fire when an agent asks for approvals. */
  approvalsRequested(agent: AgentRow, approvals: Approval[]): Promise<FollowUp>;
}

const NO_CONSEQUENCE: FollowUp = { statements: [], committed: () => undefined };
const NO_EXECUTIONS: Executions = {
  event: async () => NOTHING,
  failure: async () => null,
  ended: () => undefined,
  approvalsRequested: async () => NO_CONSEQUENCE,
};

/** Creates the list of what follows agents. Modules register themselves when they are opened. */
export const createFollowers = () => {
  const endings: AgentEnding[] = [];
  const listeners: ((agent: AgentRow) => void)[] = [];
  const followers = {
    executions: NO_EXECUTIONS,
    /** Returns what all modules add to the end of an agent. */
    ending: async (agent: AgentRow, outcome: AgentOutcome): Promise<FollowUp> => {
      const all = await Promise.all(endings.map((ending) => ending(agent, outcome)));
      return {
        statements: all.flatMap(({ statements }) => statements),
        committed: () => {
          for (const { committed } of all) committed();
        },
      };
    },
    onEnd: (ending: AgentEnding): void => {
      endings.push(ending);
    },
    /** Called after an agent has ended, was stopped or was removed. */
    ended: (agent: AgentRow): void => {
      followers.executions.ended(agent);
      for (const listen of listeners) listen(agent);
    },
    afterEnd: (listen: (agent: AgentRow) => void): void => {
      listeners.push(listen);
    },
    ofExecutions: (executions: Executions): void => {
      followers.executions = executions;
    },
  };
  return followers;
};

export type Followers = ReturnType<typeof createFollowers>;
