import type { Approval } from '../approvals/module.js';
import { EMPTY_POSTING, type Notice, type QueuedMessage } from '../outbound/module.js';
import type { Statement } from '../store/engine/protocol.js';
import type { AgentRow } from '../store/tables/agents.js';

export type AgentOutcome =
  | {
      status: 'completed';
      result: string;
      /** Note for readers of the result. */
      note?: string;
    }
  | { status: 'failed'; error: string };

export interface FollowUp {
  statements: Statement[];
  committed(): void;
}

export interface ExecutionEnd {
  status: 'success' | 'error' | 'skipped' | 'interrupted';
  result?: unknown;
  error?: string;
}

export type AgentEnding = (agent: AgentRow, outcome: AgentOutcome) => Promise<FollowUp>;

export interface Executions {
  /** Event for the end of an execution, for the transaction that ends it. */
  event(agent: AgentRow, end: ExecutionEnd): Promise<QueuedMessage>;
  /** Null if no notification is due. */
  failure(agent: AgentRow, error: string): Promise<Notice | null>;
  /** Called after the transaction. */
  ended(agent: AgentRow): void;
  /** Statements for the hooks that approval requests fire. */
  approvalsRequested(agent: AgentRow, approvals: Approval[]): Promise<FollowUp>;
}

const NO_CONSEQUENCE: FollowUp = { statements: [], committed: () => undefined };
const NO_EXECUTIONS: Executions = {
  event: async () => EMPTY_POSTING,
  failure: async () => null,
  ended: () => undefined,
  approvalsRequested: async () => NO_CONSEQUENCE,
};

export const createFollowers = () => {
  const endings: AgentEnding[] = [];
  const listeners: ((agent: AgentRow) => void)[] = [];
  const followers = {
    executions: NO_EXECUTIONS,
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
    /** Called after an agent has ended, was stopped or was deleted. */
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
