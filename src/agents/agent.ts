import type { Persona } from '../experts/module.js';
import type { AgentStatus } from '../store/tables/agents.js';
import type { Agent } from './contract.js';

/** The limits of an agent. Times are in seconds of work; pauses do not count. */
export type AgentLimits = Agent['limits'];

export const DEFAULT_LIMITS: AgentLimits = {
  maxSteps: 50,
  maxSeconds: 900,
  maxTokens: 500_000,
  maxAnswerTokens: 8192,
  maxCostUsd: 1,
  maxDepth: 2,
  maxAgents: 8,
};

/** The possible changes of an agent's state; any other is impossible (409). */
export const moves: Record<AgentStatus, AgentStatus[]> = {
  queued: ['running', 'paused', 'failed', 'stopped'],
  running: ['waiting_approval', 'paused', 'completed', 'failed', 'stopped'],
  waiting_approval: ['queued', 'paused', 'stopped'],
  paused: ['queued', 'stopped'],
  completed: ['queued'],
  failed: ['queued'],
  stopped: ['queued'],
};

/** Returns the states from which a change to that state is possible. */
const originsOf = (to: AgentStatus): AgentStatus[] =>
  STATES.filter((from) => moves[from].includes(to));

export const FINISHED: AgentStatus[] = ['completed', 'failed', 'stopped'];
export const UNFINISHED: AgentStatus[] = ['queued', 'running', 'waiting_approval', 'paused'];
/** The states in which nothing happens until a person acts. */
export const RESTING: AgentStatus[] = ['waiting_approval', 'paused'];
const STATES = [...UNFINISHED, ...FINISHED];

/** The verbs that change an agent's state from outside: from which states, and to which. */
export const verbs = {
  pause: { from: originsOf('paused'), to: 'paused' },
  /**
   * Ours: only a paused agent can resume, although a message brings a finished one to `queued` too.
   */
  resume: { from: ['paused'], to: 'queued' },
  stop: { from: originsOf('stopped'), to: 'stopped' },
} as const satisfies Record<string, { from: AgentStatus[]; to: AgentStatus }>;

/** Thrown if an agent cannot make that change of state now. */
export class ImpossibleMove extends Error {
  constructor(from: AgentStatus, verb: keyof typeof verbs) {
    super(`Cannot ${verb} the agent. Its status is ${from}.`);
    this.name = 'ImpossibleMove';
  }
}

/** Thrown if the named session does not belong to the user. */
export class NoSession extends Error {
  override name = 'NoSession';
  override message = 'No session with that id';
}

/**
 * Thrown if another agent is at work in the session: two at once would read each other's unfinished
 * turns.
 */
export class SessionBusy extends Error {
  override name = 'SessionBusy';
  override message =
    'Another agent is active in this session. Send it the message, or stop it first.';
}

export const JOB = 'agent';

/** The topics on which the events of agents are published. */
export const AGENT_CHANNELS = ['agent.status', 'agent.message', 'agent.tool_call'];

/** True if a publication on one of these topics is about that agent. */
export const isAbout = (data: unknown, id: string): boolean =>
  typeof data === 'object' && data !== null && 'agentId' in data && data.agentId === id;

/** Returns the persona that an agent has taken on. */
export const readPersona = (expert: string): Persona => JSON.parse(expert);

/**
 * Returns the prompt of an agent that a webhook spawns, exactly as specified (spec: receiver, rule
 * 7; the line breaks are ours). Another trigger gives a heading of its own.
 */
export const webhookPrompt = (
  prompt: string,
  payload: string,
  event: string | null,
  heading = 'Webhook Payload',
): string =>
  `${prompt}\n\n--- ${heading} ---\n${payload}${event === null ? '' : `\nEvent type: ${event}`}`;
