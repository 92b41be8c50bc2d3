import type { ToolSpec, Turn } from './model.js';

const BYTES_PER_TOKEN = 3;
/** The tokens of the role, separators and IDs around a turn or a tool. */
const FRAME_TOKENS = 6;

/**
 * Estimates the tokens of the turns and tools: one for each three bytes of UTF-8, and six around
 * each turn or tool. English prose takes four bytes a token, JSON and code near three, Chinese and
 * Japanese near three. So the estimate is right for payloads and a third too high for prose. It is
 * used for checks before a call (does it fit?) and for endpoints that report no usage, never in
 * place of reported usage.
 */
export const estimateTokens = (turns: Turn[], tools: ToolSpec[] = []): number =>
  sum(turns.map(turnTokens)) + sum(tools.map(toolTokens));

export const textTokens = (text: string): number =>
  Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

/** Returns the beginning of a text that has so many tokens by that estimate. */
export const cutToTokens = (text: string, most: number): string => {
  if (textTokens(text) <= most) return text;
  const bytes = Buffer.from(text).subarray(0, most * BYTES_PER_TOKEN);
  // A character that was cut in its middle is left out.
  return bytes.toString().replace(/\uFFFD$/, '');
};

const turnTokens = (turn: Turn): number => {
  const calls = turn.role === 'assistant' ? turn.toolCalls : [];
  const asked = calls.map((call) => textTokens(call.name + JSON.stringify(call.arguments)));
  return FRAME_TOKENS + textTokens(turn.content) + sum(asked) + FRAME_TOKENS * calls.length;
};

/** The estimates by tool: a step estimates the same tools three times, and the next step again. */
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
