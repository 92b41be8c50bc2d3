import type { AgentStatus } from '../../store/tables.js';

/** What an agent may spend, at most. Times in seconds of work, pauses not counted. */
export interface AgentLimits {
  maxSteps: number;
  maxSeconds: number;
  maxTokens: number;
  maxCostUsd: number;
  maxDepth: number;
  maxAgents: number;
}

export const DEFAULT_LIMITS: AgentLimits = {
  maxSteps: 50,
  maxSeconds: 900,
  maxTokens: 500_000,
  maxCostUsd: 1,
  maxDepth: 2,
  maxAgents: 8,
};

/** Every move of an agent's state; what is not here is impossible (409). */
export const moves: Record<AgentStatus, AgentStatus[]> = {
  queued: ['running', 'paused', 'stopped'],
  running: ['waiting_approval', 'paused', 'completed', 'failed', 'stopped'],
  waiting_approval: ['queued', 'paused', 'stopped'],
  paused: ['queued', 'stopped'],
  completed: ['queued'],
  failed: ['queued'],
  stopped: ['queued'],
};

export const mayMove = (from: AgentStatus, to: AgentStatus): boolean => moves[from].includes(to);

/** The states from which a move leads there. */
export const originsOf = (to: AgentStatus): AgentStatus[] =>
  (Object.keys(moves) as AgentStatus[]).filter((from) => mayMove(from, to));

export const FINISHED: AgentStatus[] = ['completed', 'failed', 'stopped'];

/** An agent cannot make that move now. */
export class ImpossibleMove extends Error {
  constructor(
    readonly from: AgentStatus,
    readonly verb: string,
  ) {
    super(`The agent is ${from}: it cannot ${verb}`);
    this.name = 'ImpossibleMove';
  }
}

export const JOB = 'agent';

/**
 * The prompt of an agent that a webhook spawns, to the letter (spec: receiver, rule 7; the line
 * breaks are ours).
 */
export const webhookPrompt = (prompt: string, payload: string, event: string | null): string =>
  `${prompt}\n\n--- Webhook Payload ---\n${payload}${event === null ? '' : `\nEvent type: ${event}`}`;
