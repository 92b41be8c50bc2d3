import type { MessageReply } from '../../src/conversations/contract.js';
import { textAt } from '../../src/kernel/jsonvalue.js';

/**
 * Returns the tool of each result, by the id of its message. Results are stored in the order of the
 * calls of the reply before them; where there are more or fewer it is not known.
 */
export const pairedCalls = (messages: readonly MessageReply[]): Map<string, string> => {
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
