import type { JudgedCall } from '../../../src/approvals/grants/rules.js';

const tool = (name: string, more: Partial<JudgedCall['tool']> = {}): JudgedCall['tool'] => {
  const [skillId = '', action = ''] = name.split('.');
  return { skillId, name: action, sendsOut: true, ...more };
};
export const judged = (
  name: string,
  args: Record<string, unknown>,
  isUntrusted = false,
  more: Partial<JudgedCall['tool']> = {},
): JudgedCall => ({ tool: tool(name, more), arguments: args, isUntrusted });

export const POST = { method: 'POST', url: 'https://example.org/in', body: 'x' };
export const MCP = { definitionDigest: 'a'.repeat(64) };
