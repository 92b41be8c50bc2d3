import type { ModelFailureKind } from '../llm/model.js';

export type ToolName = 'claude' | 'codex' | 'gemini' | 'opencode';

/** What a tool says of its quota, as far as it does. */
export interface QuotaTold {
  used: number | null;
  limit: number | null;
  resetsAtMs: number | null;
  exhausted: boolean;
  /** What said so: the name of the event. */
  source: string;
}

/** What one event of a tool's stream comes to. */
export type ToolEvent =
  /** A piece of the answer. */
  | { is: 'text'; text: string }
  /** It thinks: a token came, though not of the answer. */
  | { is: 'token' }
  /** Of one request that it made; they add up. */
  | { is: 'usage'; inputTokens: number | null; outputTokens: number | null }
  /** The answer is whole; `text` is all of it, for where no piece came. */
  | { is: 'end'; text: string | null; isCut: boolean }
  | { is: 'failure'; kind: ModelFailureKind; said: string }
  | { is: 'quota'; quota: QuotaTold }
  /** It has a tool of its own in spite of all: it is ended at once. */
  | { is: 'armed' };

/** One question to a tool, as paths and words for its command line. */
export interface ToolPrompt {
  /** As the tool calls it; null: its own choice. */
  model: string | null;
  /** Folder of this call, in which `files` lie. */
  folder: string;
}

/** File of each call's folder that holds what the tool is to be, in place of its own instructions. */
export const SYSTEM_FILE = 'system.md';

/**
 * A command-line tool as a model: the prompt goes in by stdin, events come out, one JSON object a
 * line. Its own tools must be off: they would go round permissions and approvals.
 */
export interface CliTool {
  name: ToolName;
  /** Further files of each call's folder, by name. */
  files: Record<string, string>;
  args(asking: ToolPrompt): string[];
  env(asking: ToolPrompt): Record<string, string>;
  /** Files below its HOME; any of them is a login. */
  logins: string[];
  /** Further files and folders below its HOME that stay; all else goes when it rests. */
  keeps: string[];
  /** With which a person logs in at a terminal. */
  loginArgs: string[];
  /** An event of a type that it does not know comes to nothing. */
  read(event: unknown): ToolEvent[];
}
