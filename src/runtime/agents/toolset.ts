import type { ToolCall, ToolSpec } from '../../providers/llm/model.js';
import type { AgentRow } from '../../store/tables/agents.js';
import type { Tool } from '../tools/tool.js';
import { functionName, type Toolbox } from '../tools/toolbox.js';

/** The tools that one agent is offered, and how a call of one is run. */
export interface Toolset {
  specs: ToolSpec[];
  find(call: ToolCall): Tool | null;
}

/**
 * What an agent may use. Harmless tools always; everything with an effect outside, and for an
 * untrusted agent everything that sends bytes off the machine too, only where its owner granted it
 * by name (`tools` of the agent, `agentTools` of the hook). What the model says changes nothing.
 */
export const toolsetOf = (
  agent: Pick<AgentRow, 'untrusted' | 'tools'>,
  toolbox: Toolbox,
  mayUseShell: boolean,
): Toolset => {
  const granted = new Set<string>(agent.tools === null ? [] : JSON.parse(agent.tools));
  const offered = toolbox
    .list()
    .filter((tool) =>
      isOffered(tool, { granted, isUntrusted: agent.untrusted === 1, mayUseShell }),
    );
  const byName = new Map(offered.map((tool) => [functionName(tool), tool]));
  return {
    specs: offered.map((tool) => ({
      name: functionName(tool),
      description: tool.description,
      inputSchema: tool.inputSchema,
    })),
    find: ({ name }) => byName.get(name) ?? null,
  };
};

interface Standing {
  granted: Set<string>;
  isUntrusted: boolean;
  mayUseShell: boolean;
}

const isOffered = (tool: Tool, { granted, isUntrusted, mayUseShell }: Standing): boolean => {
  if (tool.unavailable !== null || (tool.skillId === 'shell' && !mayUseShell)) return false;
  if (granted.has(`${tool.skillId}.${tool.name}`) || granted.has(tool.skillId)) return true;
  return !tool.sideEffects && !(isUntrusted && tool.sendsOut);
};
