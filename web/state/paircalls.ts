import type { MessageReply } from '../../src/conversations/contract.js';
import { textAt } from '../../src/kernel/jsonvalue.js';

/**
 * Tool of each result, by message id. Results are stored in the order of the preceding calls. With
 * a different number of results the tool is unknown.
 */
export const toolNamesByResult = (messages: readonly MessageReply[]): Map<string, string> => {
  const tools = new Map<string, string>();
  let open: string[] = [];
  for (const { id, role, toolCalls = [] } of messages) {
    if (role === 'assistant') open = toolCalls.map((call) => textAt(call, 'name') ?? '');
    if (role !== 'tool') continue;
    const tool = open.shift();
    if (tool !== undefined) tools.set(id, tool);
  }
  return tools;
};
