import type { Definition } from './definition.js';
import type { McpResult } from './result.js';

/**
 * `unreached`: nothing can have come of it; `refused`: the server would not; `silent`: no answer in
 * time; `gone`: it ended or broke off; `wrong`: an answer, but none that MCP knows, or an error.
 */
export type McpFailure = 'unreached' | 'refused' | 'silent' | 'gone' | 'wrong';

/** The server did not do what was asked; the sentence is for a person. */
export class McpFailed extends Error {
  constructor(
    readonly kind: McpFailure,
    sentence: string,
    cause?: unknown,
  ) {
    super(sentence, { cause });
    this.name = 'McpFailed';
  }

  get effectBegan(): boolean {
    return this.kind !== 'unreached' && this.kind !== 'refused';
  }
}

/** An open session with one MCP server. */
export interface McpConnection {
  /**
   * What the server offers by its last word; waits where it has just said that this changed.
   * Errors: McpFailed.
   */
  definitions(): Promise<Definition[]>;
  /** Errors: McpFailed; the signal's reason. Progress of the server keeps a call alive. */
  call(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<McpResult>;
  /** Why it is over, in words, once it is. */
  ended: Promise<string>;
  close(): Promise<void>;
}
