import type { ToldUsage } from './usage.js';

/** One tool that a model may ask for. Our own loop checks the arguments, asks for approval and runs it. */
export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema of the arguments, an object. */
  inputSchema: Record<string, unknown>;
}

export interface ToolCall {
  /** The model's own id of the call; the `tool` turn that answers it carries the same. */
  id: string;
  name: string;
  /** Well-formed JSON, not yet held against the tool's schema. */
  arguments: Record<string, unknown>;
}

export type Turn =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls: ToolCall[] }
  | { role: 'tool'; toolCallId: string; toolName: string; content: string };

/** One question to a model: everything said so far, and the tools it may ask for. */
export interface ModelRequest {
  turns: Turn[];
  tools: ToolSpec[];
  /** Of the answer, reasoning included: sent with the call, and a stream that goes on is cut. */
  maxOutputTokens?: number;
  /** Ends the call at once. `AbortSignal.timeout` ends it as `timeout`, anything else as `aborted`. */
  signal: AbortSignal;
  /** Called with each piece of text as it comes; what it throws ends the step and is passed on. */
  onText?(delta: string): void;
}

export interface ModelUsage {
  inputTokens: number;
  outputTokens: number;
  /** USD; null where the model has no price. */
  costUsd: number | null;
}

export interface StepReply {
  text: string;
  toolCalls: ToolCall[];
  usage: ModelUsage;
  finish: 'stop' | 'tool_calls' | 'length';
}

/** USD per million tokens. */
export interface Price {
  inputPerMTok: number;
  outputPerMTok: number;
}

/** One model that can answer. */
export interface Model {
  name: string;
  provider: string;
  /** Tokens that turns, tools and answer may take together. */
  contextWindow: number;
  /** Left out where it is not known, or nothing. */
  price?: Price;
  /** False where it cannot call tools: then it must not be offered any. */
  takesTools?: boolean;
  /** One answer, never repeated by itself. Every way it can fail is a ModelFailure. */
  step(step: ModelRequest): Promise<StepReply>;
}

export type ModelFailureKind =
  /** No connection, or it broke before the reply began. */
  | 'refused_connection'
  | 'timeout'
  | 'rate_limited'
  /** The provider failed (5xx), or its reply broke off. */
  | 'server'
  | 'credentials'
  /** The provider does not know the model, or there is nothing at that address. */
  | 'unknown_model'
  /** A reply came and makes no sense. */
  | 'invalid_reply'
  | 'context_length'
  | 'aborted'
  | 'bad_request';

/** Its message names the model and what happened, and holds nothing of a prompt, a reply or a key. */
export class ModelFailure extends Error {
  constructor(
    readonly kind: ModelFailureKind,
    message: string,
    /** How long the provider asked to be left alone. */
    readonly retryAfterMs?: number,
    /** What the call came to all the same; left out where it came to nothing. */
    readonly usage?: ModelUsage,
  ) {
    super(message);
    this.name = 'ModelFailure';
  }
}

/** The provider refused, by an error status or by an error in its stream. */
export class ModelRefusal extends ModelFailure {
  constructor(
    kind: ModelFailureKind,
    message: string,
    /** The usage that it told. */
    readonly told: ToldUsage,
    retryAfterMs?: number,
  ) {
    super(kind, message, retryAfterMs);
  }
}
