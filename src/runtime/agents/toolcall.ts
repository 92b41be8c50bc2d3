import type { ToolCall } from '../../providers/llm/model.js';
import { type Tool, type ToolContext, ToolFailed, ToolRefused } from '../tools/tool.js';

const LONGEST_RESULT = 64 * 1024;

/** Runs a tool for a model; what goes wrong is told to the model, not thrown, unless the run is over. */
export const runTool = async (
  tool: Tool | null,
  call: ToolCall,
  context: ToolContext,
): Promise<{ ok: boolean; content: string }> => {
  if (!tool) return { ok: false, content: `There is no tool ${call.name} for this agent` };
  try {
    const result = await tool.run(call.arguments, context);
    const text = typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
    return { ok: true, content: shorten(text) };
  } catch (error) {
    if (context.signal.aborted) throw error;
    if (!(error instanceof ToolRefused || error instanceof ToolFailed)) throw error;
    return { ok: false, content: error.message };
  }
};

const shorten = (text: string): string =>
  text.length > LONGEST_RESULT
    ? `${text.slice(0, LONGEST_RESULT)}\n… ${text.length - LONGEST_RESULT} characters more`
    : text;
