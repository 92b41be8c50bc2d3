import type { ToolSpec, Turn } from './model.js';

const BYTES_PER_TOKEN = 3;
/** Tokens around a turn or a tool: role, separators and IDs. */
const FRAME_TOKENS = 6;

/**
 * One token per three bytes: right for JSON, code, Chinese and Japanese, and a third too high for
 * English. Used before a call and for endpoints that report no usage.
 */
export const estimateTokens = (turns: Turn[], tools: ToolSpec[] = []): number =>
  sum(turns.map(turnTokens)) + sum(tools.map(toolTokens));

export const textTokens = (text: string): number =>
  Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

/** By the same estimate. */
export const cutToTokens = (text: string, most: number): string => {
  if (textTokens(text) <= most) return text;
  const bytes = Buffer.from(text).subarray(0, most * BYTES_PER_TOKEN);
  // Drops a character that was cut.
  return bytes.toString().replace(/\uFFFD$/, '');
};

const turnTokens = (turn: Turn): number => {
  const calls = turn.role === 'assistant' ? turn.toolCalls : [];
  const callTokens = calls.map((call) => textTokens(call.name + JSON.stringify(call.arguments)));
  return FRAME_TOKENS + textTokens(turn.content) + sum(callTokens) + FRAME_TOKENS * calls.length;
};

/** A step estimates the same tools several times. */
const estimates = new WeakMap<ToolSpec, number>();

const toolTokens = (tool: ToolSpec): number => {
  const known = estimates.get(tool);
  if (known !== undefined) return known;
  const text = tool.name + tool.description + JSON.stringify(tool.inputSchema);
  const estimate = FRAME_TOKENS + textTokens(text);
  estimates.set(tool, estimate);
  return estimate;
};

const sum = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0);
