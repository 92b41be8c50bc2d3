import { MCP } from '../experts/expert.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { Tool } from '../tools/tool.js';
import type { AgentLimits } from './agent.js';
import { readPart } from './systemprompt.js';

/**
 * Returns a filter for the tools of this agent: an expert has those of its persona, and an agent at
 * the deepest level cannot delegate.
 */
export const suiting = (
  { limits, expert }: Pick<AgentRow, 'limits' | 'expert'>,
  servers: { name: string }[],
): ((tool: Tool) => boolean) => {
  const { maxDepth }: AgentLimits = JSON.parse(limits);
  const tools = expert === null ? null : readPart(expert).tools;
  const named = tools && new Set(tools);
  if (named?.has(MCP)) for (const { name } of servers) named.add(name);
  return ({ skillId, name }) => {
    if (skillId === 'agents' && maxDepth < 1) return false;
    return !named || named.has(skillId) || named.has(`${skillId}.${name}`);
  };
};
