import type { ModelFailureKind } from '../llm/model.js';

export type ToolName = 'claude' | 'codex' | 'gemini' | 'opencode';

/** Null for values that were not reported. */
export interface ToolQuota {
  used: number | null;
  limit: number | null;
  resetsAtMs: number | null;
  exhausted: boolean;
  source: string;
}

export type ToolEvent =
  | { is: 'text'; text: string }
  /** A token of the reasoning. */
  | { is: 'token' }
  /** Usage of one request. The values are added up. */
  | { is: 'usage'; inputTokens: number | null; outputTokens: number | null }
  /** `text` is the whole reply, for a stream without pieces. */
  | { is: 'end'; text: string | null; isCut: boolean }
  | { is: 'failure'; kind: ModelFailureKind; detail: string }
  | { is: 'quota'; quota: ToolQuota }
  /** The tool has its own tools enabled. It is stopped. */
  | { is: 'armed' };

export interface ToolPrompt {
  /** Null for the default of the tool. */
  model: string | null;
  /** Contains `files`. */
  folder: string;
}

/** Instructions that replace those of the tool. */
export const SYSTEM_FILE = 'system.md';

/**
 * The prompt goes to stdin, and events come out as lines of JSON. Its own tools must be off,
 * because they would bypass permissions and approvals.
 */
export interface CliTool {
  name: ToolName;
  files?: Record<string, string>;
  args(asking: ToolPrompt): string[];
  env(asking: ToolPrompt): Record<string, string>;
  /** Files below its HOME, one of which is enough for a login. */
  logins: string[];
  /** Files and folders below its HOME to keep. All others are removed after the last call. */
  keeps?: string[];
  /** Arguments for an interactive login. */
  loginArgs: string[];
  /** By event type. Unknown types are ignored. */
  readers: Record<string, (event: unknown) => ToolEvent[]>;
}
