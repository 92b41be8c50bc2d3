/** Among the tools of an expert it stands for all that MCP servers offer; no skill has this name. */
export const MCP = 'mcp';

/** A part that an agent can play. Ours: what stands in it narrows or advises, and never grants. */
export interface Expert {
  id: string;
  /** Lower case; for a user no two are alike. */
  name: string;
  /** When to take it: one sentence, by which models choose. */
  description: string;
  /** Its part of an agent's system prompt. */
  instructions: string;
  /** Words and phrases in lower case, by which it is chosen where no model is. */
  keywords: string[];
  /** Tools as `http.request`, or all of a skill as `http`; null: all there are. */
  tools: string[] | null;
  /** Models are routed by it, unless the task has a topic of its own. */
  topic: string | null;
  model: string | null;
}

/** What an agent keeps of its expert: later changes to the expert are not for those at work. */
export interface Persona extends Pick<Expert, 'id' | 'name' | 'instructions' | 'tools'> {}

export const partOf = ({ id, name, instructions, tools }: Expert): Persona => ({
  id,
  name,
  instructions,
  tools,
});
