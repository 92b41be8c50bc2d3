import { excerpt } from '../kernel/excerpt.js';
import type { ToolCall } from '../providers/llm/model.js';
import { Pending, type Tool, type ToolContext, ToolFailed, ToolRefused } from '../tools/module.js';

/** The maximum length of a result, in characters. */
export const MAX_RESULT_LENGTH = 65_536;

export interface ToolResult {
  ok: boolean;
  content: string;
  /** True if others wrote some of it. */
  isOutside: boolean;
}

/**
 * Runs a tool for a model. An error of the tool is returned to the model and not thrown, unless the
 * run is over. Returns null if another agent will bring the result.
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
    if (result instanceof Pending) return null;
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
