import { type EffectivePermissions, whyDenied } from '../permissions/rules.js';
import type { ToolCall, ToolSpec } from '../providers/llm/model.js';
import type { Tool } from '../tools/tool.js';
import { functionName, type Toolbox } from '../tools/toolbox.js';

/** The tools that one agent is offered, and the function that finds the tool of a call. */
export interface Toolset {
  specs: ToolSpec[];
  find(call: ToolCall): Tool | null;
}

/**
 * Returns all tools that the owner's permissions leave. An offered tool is not yet allowed: each
 * call is judged separately when it is made (`courseOf`), whatever the model says.
 */
export const toolsetOf = (
  toolbox: Pick<Toolbox, 'list'>,
  permissions: EffectivePermissions,
  suits: (tool: Tool) => boolean = () => true,
): Toolset => {
  const offered = toolbox
    .list()
    .filter((tool) => suits(tool) && whyDenied(tool, permissions) === null);
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
