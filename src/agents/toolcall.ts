import { excerpt } from '../kernel/excerpt.js';
import type { ToolCall } from '../providers/llm/model.js';
import {
  PendingResult,
  type Tool,
  type ToolContext,
  ToolFailed,
  ToolRefused,
} from '../tools/module.js';

export const MAX_RESULT_LENGTH = 65_536;

export interface ToolResult {
  ok: boolean;
  content: string;
  /** Whether others wrote a part of the result. */
  isOutside: boolean;
}

/**
 * Errors of the tool are returned to the model. Returns null if a sub-agent will deliver the
 * result.
 */
export const runToolCall = async (
  tool: Tool | null,
  call: ToolCall,
  context: ToolContext,
): Promise<ToolResult | null> => {
  if (!tool) {
    const content = `The tool ${call.name} is not available to this agent`;
    return { ok: false, content, isOutside: false };
  }
  try {
    const result = await tool.run(call.arguments, context);
    if (result instanceof PendingResult) return null;
    const text = typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
    const isOutside = tool.outside || tool.outsideIn?.(result) === true;
    return { ok: true, content: excerpt(text, MAX_RESULT_LENGTH), isOutside };
  } catch (error) {
    if (context.signal.aborted) throw error;
    if (!(error instanceof ToolRefused || error instanceof ToolFailed)) throw error;
    const content = excerpt(error.message, MAX_RESULT_LENGTH);
    return { ok: false, content, isOutside: tool.outside };
  }
};
