import type { AgentStatus } from '../store/tables/agents.js';

/** What an agent may spend, at most. Times in seconds of work, pauses not counted. */
export interface AgentLimits {
  maxSteps: number;
  maxSeconds: number;
  maxTokens: number;
  /** Tokens of one answer of a model, reasoning included. */
  maxAnswerTokens: number;
  maxCostUsd: number;
  maxDepth: number;
  maxAgents: number;
}

export const DEFAULT_LIMITS: AgentLimits = {
  maxSteps: 50,
  maxSeconds: 900,
  maxTokens: 500_000,
  maxAnswerTokens: 8192,
  maxCostUsd: 1,
  maxDepth: 2,
  maxAgents: 8,
};

/** Every move of an agent's state; what is not here is impossible (409). */
export const moves: Record<AgentStatus, AgentStatus[]> = {
  queued: ['running', 'paused', 'failed', 'stopped'],
  running: ['waiting_approval', 'paused', 'completed', 'failed', 'stopped'],
  waiting_approval: ['queued', 'paused', 'stopped'],
  paused: ['queued', 'stopped'],
  completed: ['queued'],
  failed: ['queued'],
  stopped: ['queued'],
};

/** The states from which a move leads there. */
const originsOf = (to: AgentStatus): AgentStatus[] =>
  STATES.filter((from) => moves[from].includes(to));

export const FINISHED: AgentStatus[] = ['completed', 'failed', 'stopped'];
export const UNFINISHED: AgentStatus[] = ['queued', 'running', 'waiting_approval', 'paused'];
/** Those in which nothing happens until somebody says so. */
export const RESTING: AgentStatus[] = ['waiting_approval', 'paused'];
const STATES = [...UNFINISHED, ...FINISHED];

/** The verbs that move an agent from outside: from which states, and to which. */
export const verbs = {
  pause: { from: originsOf('paused'), to: 'paused' },
  /** Ours: `queued` is also where a message brings a finished agent; resuming is for paused ones. */
  resume: { from: ['paused'], to: 'queued' },
  stop: { from: originsOf('stopped'), to: 'stopped' },
} as const satisfies Record<string, { from: AgentStatus[]; to: AgentStatus }>;

/** An agent cannot make that move now. */
export class ImpossibleMove extends Error {
  constructor(from: AgentStatus, verb: keyof typeof verbs) {
    super(`The agent is ${from}: it cannot ${verb}`);
    this.name = 'ImpossibleMove';
  }
}

/** The session that is named is not one of the user's. */
export class NoSession extends Error {
  override name = 'NoSession';
  override message = 'No session with that id';
}

/** Agents that speak at once in one session would read each other's half-finished turns. */
export class SessionBusy extends Error {
  override name = 'SessionBusy';
  override message = 'Another agent is at work in that session: send it the message, or stop it';
}

export const JOB = 'agent';

/** Where the events of agents are published. */
export const AGENT_CHANNELS = ['agent.status', 'agent.message', 'agent.tool_call'];

/**
 * The prompt of an agent that a webhook spawns, to the letter (spec: receiver, rule 7; the line
 * breaks are ours).
 */
export const webhookPrompt = (prompt: string, payload: string, event: string | null): string =>
  `${prompt}\n\n--- Webhook Payload ---\n${payload}${event === null ? '' : `\nEvent type: ${event}`}`;
