import type { TokenUsage } from './usage.js';

/**
 * A tool that a model may call. Our own loop checks the arguments, asks for approval and runs it.
 */
export interface ToolSpec {
  name: string;
  description: string;
  /** The JSON Schema of the arguments, an object. */
  inputSchema: Record<string, unknown>;
}

export interface ToolCall {
  /** The model's own ID of the call. The `tool` turn with the result has the same ID. */
  id: string;
  name: string;
  /** Well-formed JSON, not yet validated against the tool's schema. */
  arguments: Record<string, unknown>;
  /**
   * Reason why the arguments that the model wrote cannot be read, for the model; `arguments` is empty
   * then. Missing if they can.
   */
  fault?: string;
  /** Google's signature of the thoughts behind the call. Kept in `ReplyReasoning`. */
  signature?: string;
}

/**
 * Reasoning of a reply that calls tools. Some providers refuse the results of the calls without it.
 * It is sent back to the same model only, and never shown.
 */
export interface ReplyReasoning {
  /** The name of the model, and the model's ID at its provider. */
  model: string;
  modelId: string;
  text: string;
  /** The field of a chat completion that contained it. `null` if it came in another form. */
  field: 'reasoning_content' | 'reasoning' | null;
  /** The `reasoning_details` of OpenRouter. */
  details?: unknown[];
  /** Google's signatures, by the ID of the call. */
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

/** One request to a model: the conversation so far, and the tools that it may call. */
export interface ModelRequest {
  turns: Turn[];
  tools: ToolSpec[];
  /**
   * The most tokens of the reply, including reasoning. The limit is sent with the call, and a
   * stream that exceeds it is cut.
   */
  maxOutputTokens?: number;
  /**
   * A signal that ends the call at once: as `timeout` for `AbortSignal.timeout`, else as `aborted`.
   */
  signal: AbortSignal;
  /**
   * Called with each piece of text as it comes. An error that it throws ends the step and is passed
   * on.
   */
  onText?(delta: string): void;
  /**
   * Called if the text so far has proved to be reasoning. The reply begins again with the next
   * delta.
   */
  onRestart?(): void;
  /** The models that were tried before this one, each with its reason, for the digest. */
  unanswered?: string[];
  /** True if there are language models and the digest was chosen to answer. */
  isDigestChosen?: boolean;
}

export interface ModelUsage {
  inputTokens: number;
  outputTokens: number;
  /** The cost in USD; null if the model has no price. */
  costUsd: number | null;
}

export interface StepReply {
  text: string;
  toolCalls: ToolCall[];
  usage: ModelUsage;
  finish: 'stop' | 'tool_calls' | 'length';
  /** The reasoning that has to be sent back with the reply. */
  reasoning?: ReplyReasoning;
}

/** A price in USD per million tokens, and per minute of speech. */
export interface Price {
  inputPerMTok: number;
  outputPerMTok: number;
  perMinuteUsd?: number;
}

/** A model that can answer. */
export interface Model {
  name: string;
  provider: string;
  /** The most tokens of turns, tools and reply together. */
  contextWindow: number;
  /** The price; left out if it is unknown or zero. */
  price?: Price;
  /** False if it cannot call tools; then it must not be offered any. */
  takesTools?: boolean;
  /** Requests one reply, without retries. Every failure is a ModelFailure. */
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
  /** The provider does not know the model, or the address does not exist. */
  | 'unknown_model'
  /** The reply is not valid. */
  | 'invalid_reply'
  | 'context_length'
  | 'aborted'
  | 'bad_request';

/**
 * The failure of a model. The message names the model and the failure, and contains nothing of a
 * prompt, a reply or a key.
 */
export class ModelFailure extends Error {
  constructor(
    readonly kind: ModelFailureKind,
    message: string,
    /** The time to wait that the provider asked for. */
    readonly retryAfterMs?: number,
    /** The usage of the failed call; left out if it used nothing. */
    readonly usage?: ModelUsage,
  ) {
    super(message);
    this.name = 'ModelFailure';
  }
}

/** A refusal by the provider, by an error status or by an error in its stream. */
export class ModelRefusal extends ModelFailure {
  constructor(
    kind: ModelFailureKind,
    message: string,
    /** The usage that the provider reported. */
    readonly reported: TokenUsage,
    retryAfterMs?: number,
  ) {
    super(kind, message, retryAfterMs);
  }
}
