import { NamedError } from '../../kernel/failure.js';
import type { Definition } from './definition.js';
import type { McpResult } from './result.js';

/**
 * The kind of a failure. `unreached`: the request cannot have had an effect. `refused`: the server
 * refused it. `silent`: no reply in time. `gone`: the server ended or the connection broke.
 * `wrong`: an error, or a reply that is not valid MCP.
 */
export type McpFailure = 'unreached' | 'refused' | 'silent' | 'gone' | 'wrong';

/** The error if the server did not do what was asked. The message is for a person. */
export class McpFailed extends NamedError {
  constructor(
    readonly kind: McpFailure,
    sentence: string,
    cause?: unknown,
  ) {
    super(sentence, { cause });
  }

  get effectBegan(): boolean {
    return this.kind !== 'unreached' && this.kind !== 'refused';
  }
}

/** An open session with one MCP server. */
export interface McpConnection {
  /**
   * Returns the current tools of the server; waits if the server has just reported a change. Throws
   * McpFailed.
   */
  definitions(): Promise<Definition[]>;
  /**
   * Calls a tool. Progress reports of the server keep the call alive. Throws McpFailed, or the
   * signal's reason.
   */
  call(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<McpResult>;
  /** The reason of the session's end, in words, once it has ended. */
  ended: Promise<string>;
  close(): Promise<void>;
}
