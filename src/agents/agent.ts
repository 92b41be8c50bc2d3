import type { Persona } from '../experts/module.js';
import { type PayloadHeading, payloadSeparator } from '../providers/llm/prompt.js';
import type { AgentStatus } from '../store/tables/agents.js';
import type { Agent } from './contract.js';

/** Times are in seconds of work. Pauses do not count. */
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

/** Permitted status changes. All others return 409. */
export const STATUS_TRANSITIONS: Record<AgentStatus, AgentStatus[]> = {
  queued: ['running', 'paused', 'failed', 'stopped'],
  running: ['waiting_approval', 'paused', 'completed', 'failed', 'stopped'],
  waiting_approval: ['queued', 'paused', 'stopped'],
  paused: ['queued', 'stopped'],
  completed: ['queued'],
  failed: ['queued'],
  stopped: ['queued'],
};

const listSourceStatuses = (to: AgentStatus): AgentStatus[] =>
  STATES.filter((from) => STATUS_TRANSITIONS[from].includes(to));

export const FINISHED: AgentStatus[] = ['completed', 'failed', 'stopped'];
export const UNFINISHED: AgentStatus[] = ['queued', 'running', 'waiting_approval', 'paused'];
/** Statuses in which nothing happens until a person acts. */
export const RESTING: AgentStatus[] = ['waiting_approval', 'paused'];
const STATES = [...UNFINISHED, ...FINISHED];

export const verbs = {
  pause: { from: listSourceStatuses('paused'), to: 'paused' },
  /** A finished agent returns to `queued` only through a message. */
  resume: { from: ['paused'], to: 'queued' },
  stop: { from: listSourceStatuses('stopped'), to: 'stopped' },
} as const satisfies Record<string, { from: AgentStatus[]; to: AgentStatus }>;

export class InvalidTransition extends Error {
  constructor(from: AgentStatus, verb: keyof typeof verbs) {
    super(`Cannot ${verb} the agent. Its status is ${from}.`);
    this.name = 'InvalidTransition';
  }
}

export class SessionNotFound extends Error {
  override name = 'SessionNotFound';
  override message = 'No session with that id';
}

/** Two active agents in a session would read each other's unfinished turns. */
export class SessionBusy extends Error {
  override name = 'SessionBusy';
  override message =
    'Another agent is active in this session. Send it the message, or stop it first.';
}

export const JOB = 'agent';

export const AGENT_CHANNELS = ['agent.status', 'agent.message', 'agent.tool_call'];

export const isEventOfAgent = (data: unknown, id: string): boolean =>
  typeof data === 'object' && data !== null && 'agentId' in data && data.agentId === id;

export const readPersona = (expert: string): Persona => JSON.parse(expert);

/**
 * The prompt of an agent that a webhook spawns (spec: receiver, rule 7). Other triggers have
 * another heading.
 */
export const webhookPrompt = (
  prompt: string,
  payload: string,
  event: string | null,
  heading: PayloadHeading = 'Webhook Payload',
): string =>
  `${prompt}\n\n${payloadSeparator(heading)}\n${payload}${event === null ? '' : `\nEvent type: ${event}`}`;
