import type { ModelFailureKind } from '../llm/model.js';

export type ToolName = 'claude' | 'codex' | 'gemini' | 'opencode';

/** The quota as a tool reported it, with null for what it did not report. */
export interface ToolQuota {
  used: number | null;
  limit: number | null;
  resetsAtMs: number | null;
  exhausted: boolean;
  /** The source of the report: the name of the event. */
  source: string;
}

/** The meaning of one event in a tool's stream. */
export type ToolEvent =
  /** A piece of the reply. */
  | { is: 'text'; text: string }
  /** A token of the reasoning, not of the reply. */
  | { is: 'token' }
  /** The usage of one of its requests; the values add up. */
  | { is: 'usage'; inputTokens: number | null; outputTokens: number | null }
  /** The end of the reply. `text` is all of it, for a stream without pieces. */
  | { is: 'end'; text: string | null; isCut: boolean }
  | { is: 'failure'; kind: ModelFailureKind; detail: string }
  | { is: 'quota'; quota: ToolQuota }
  /** The tool has a tool of its own although all are off. It is ended at once. */
  | { is: 'armed' };

/** One request to a tool, as values for its command line. */
export interface ToolPrompt {
  /** The tool's own name of the model; null for its default. */
  model: string | null;
  /** The folder of this call, which contains `files`. */
  folder: string;
}

/** The file in each call's folder with the instructions that replace the tool's own. */
export const SYSTEM_FILE = 'system.md';

/**
 * A command-line tool as a model. The prompt goes in by stdin, and events come out, one JSON object
 * in each line. Its own tools must be off, since they would bypass permissions and approvals.
 */
export interface CliTool {
  name: ToolName;
  /** Further files of each call's folder, by name. */
  files?: Record<string, string>;
  args(asking: ToolPrompt): string[];
  env(asking: ToolPrompt): Record<string, string>;
  /** The files below its HOME that are a login; one of them is enough. */
  logins: string[];
  /**
   * Further files and folders below its HOME that are kept. All else is removed when no call runs.
   */
  keeps?: string[];
  /** The arguments with which the user logs in at a terminal. */
  loginArgs: string[];
  /** Reads one event, by its type. Events of an unknown type are ignored. */
  readers: Record<string, (event: unknown) => ToolEvent[]>;
}
