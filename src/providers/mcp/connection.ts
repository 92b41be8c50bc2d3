import { NamedError } from '../../kernel/failure.js';
import type { Definition } from './definition.js';
import type { McpResult } from './result.js';

/**
 * `unreached`: no effect is possible. `refused`: rejected by the server. `silent`: timeout. `gone`:
 * the server ended or the connection broke. `wrong`: an error, or invalid MCP.
 */
export type McpFailure = 'unreached' | 'refused' | 'silent' | 'gone' | 'wrong';

/** The message is for a person. */
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

export interface McpConnection {
  /** Waits if the server has just reported a change. Throws McpFailed. */
  definitions(): Promise<Definition[]>;
  /** Progress reports keep the call alive. Throws McpFailed or the abort reason. */
  call(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<McpResult>;
  ended: Promise<string>;
  close(): Promise<void>;
}
