import { MCP } from '../experts/module.js';
import { denialReason, type EffectivePermissions } from '../permissions/module.js';
import type { ToolCall, ToolSpec } from '../providers/llm/model.js';
import type { AgentRow } from '../store/tables/agents.js';
import { functionName, type Tool, type UserToolbox } from '../tools/module.js';
import { type AgentLimits, readPersona } from './agent.js';

/** An offered tool is not yet permitted: each call is decided separately. */
export const createToolset = (
  toolbox: Pick<UserToolbox, 'list'>,
  permissions: EffectivePermissions,
  suits: (tool: Tool) => boolean = () => true,
): { specs: ToolSpec[]; find(call: ToolCall): Tool | null } => {
  const offered = toolbox
    .list()
    .filter((tool) => suits(tool) && denialReason(tool, permissions) === null);
  const byName = new Map(offered.map((tool) => [functionName(tool), tool]));
  return {
    specs: offered.map(getToolSpec),
    find: ({ name }) => byName.get(name) ?? null,
  };
};

const specs = new WeakMap<Tool, ToolSpec>();

const getToolSpec = (tool: Tool): ToolSpec => {
  const known = specs.get(tool);
  if (known) return known;
  const { description, inputSchema } = tool;
  const spec = { name: functionName(tool), description, inputSchema };
  specs.set(tool, spec);
  return spec;
};

export type Toolset = ReturnType<typeof createToolset>;

/**
 * An expert has the tools of its persona. At the maximum depth there is no delegation. An agent of
 * a hook without memories cannot read memories or knowledge.
 */
export const personaToolFilter = (
  agent: Pick<AgentRow, 'limits' | 'expert' | 'hook_id' | 'memory'>,
  servers: { name: string }[],
): ((tool: Tool) => boolean) => {
  const { maxDepth }: AgentLimits = JSON.parse(agent.limits);
  const tools = agent.expert === null ? null : readPersona(agent.expert).tools;
  const hasMemories = agent.hook_id === null || agent.memory === 1;
  const named = tools && new Set(tools);
  if (named?.has(MCP)) for (const { name } of servers) named.add(name);
  return ({ skillId, name }) => {
    if (skillId === 'agents' && maxDepth < 1) return false;
    if (skillId === 'memory' && name !== 'save' && !hasMemories) return false;
    if (skillId === 'knowledge' && name !== 'index' && !hasMemories) return false;
    return !named || named.has(skillId) || named.has(`${skillId}.${name}`);
  };
};
