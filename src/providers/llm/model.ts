import type { TokenUsage } from './usage.js';

/** Our own loop checks the arguments, requests approval and runs the tool. */
export interface ToolSpec {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}

export interface ToolCall {
  /** ID chosen by the model. The `tool` turn with the result has the same ID. */
  id: string;
  name: string;
  /** Valid JSON, not yet checked against the schema of the tool. */
  arguments: Record<string, unknown>;
  /** Why the arguments cannot be parsed, for the model. `arguments` is then empty. */
  fault?: string;
  /** Thought signature of Google. Moved to `ReplyReasoning`. */
  signature?: string;
}

/**
 * Some providers reject the results of calls without it. It is sent only to the same model, and
 * never shown.
 */
export interface ReplyReasoning {
  /** Name of the model, and its ID at the provider. */
  model: string;
  modelId: string;
  text: string;
  /** Field of the chat completion that contained it, or null. */
  field: 'reasoning_content' | 'reasoning' | null;
  details?: unknown[];
  /** Thought signatures of Google by call ID. */
  signatures?: Record<string, string>;
}

export type Turn =
  | { role: 'system' | 'user'; content: string }
  | {
      role: 'assistant';
      content: string;
      toolCalls: ToolCall[];
      reasoning?: ReplyReasoning | undefined;
    }
  | { role: 'tool'; toolCallId: string; toolName: string; content: string };

export interface ModelRequest {
  turns: Turn[];
  tools: ToolSpec[];
  /** Maximum reply in tokens, including reasoning. A stream that exceeds it is cut. */
  maxOutputTokens?: number;
  /** Ends the call immediately: as `timeout` for a `TimeoutError`, otherwise as `aborted`. */
  signal: AbortSignal;
  /** An error that it throws ends the step and is passed on. */
  onText?(delta: string): void;
  /** The text so far was reasoning. The reply restarts with the next delta. */
  onRestart?(): void;
  /** Models that failed before, with reasons, for the digest. */
  unanswered?: string[];
  /** Whether the digest was chosen although there are language models. */
  isDigestChosen?: boolean;
}

export interface ModelUsage {
  inputTokens: number;
  outputTokens: number;
  costUsd: number | null;
}

export interface StepReply {
  text: string;
  toolCalls: ToolCall[];
  usage: ModelUsage;
  finish: 'stop' | 'tool_calls' | 'length';
  /** Must be sent back with the reply. */
  reasoning?: ReplyReasoning;
}

export interface Price {
  inputPerMTok: number;
  outputPerMTok: number;
  perMinuteUsd?: number;
}

export interface Model {
  name: string;
  provider: string;
  /** Maximum tokens of turns, tools and reply together. */
  contextWindow: number;
  /** Missing if it is unknown or zero. */
  price?: Price;
  /** If false, no tools may be offered. */
  takesTools?: boolean;
  /** No retries. Every failure is a ModelFailure. */
  step(step: ModelRequest): Promise<StepReply>;
}

export type ModelFailureKind =
  /** Also if the connection broke before the reply. */
  | 'refused_connection'
  | 'timeout'
  | 'rate_limited'
  /** 5xx, or the reply was aborted. */
  | 'server'
  | 'credentials'
  /** Also if the address does not exist. */
  | 'unknown_model'
  | 'invalid_reply'
  | 'context_length'
  | 'aborted'
  | 'bad_request';

/** The message contains no part of a prompt, reply or key. */
export class ModelFailure extends Error {
  constructor(
    readonly kind: ModelFailureKind,
    message: string,
    /** Requested by the provider. */
    readonly retryAfterMs?: number,
    /** Missing if the call used nothing. */
    readonly usage?: ModelUsage,
  ) {
    super(message);
    this.name = 'ModelFailure';
  }
}

/** By an error status, or an error in the stream. */
export class ModelRefusal extends ModelFailure {
  constructor(
    kind: ModelFailureKind,
    message: string,
    readonly reported: TokenUsage,
    retryAfterMs?: number,
  ) {
    super(kind, message, retryAfterMs);
  }
}
