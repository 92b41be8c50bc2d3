/**
 * The entry in an expert's list of tools that stands for all tools of MCP servers. No skill has
 * this name.
 */
export const MCP = 'mcp';

/** A persona that an agent can take on. Ours: its contents restrict or advise, and never grant. */
export interface Expert {
  id: string;
  /** In lower case, and unique for a user. */
  name: string;
  /** The tasks for which to choose this expert, in one sentence. Models choose by it. */
  description: string;
  /** The expert's section of an agent's system prompt. */
  instructions: string;
  /** Words and phrases in lower case, by which the expert is chosen if no model can choose. */
  keywords: string[];
  /** Tools as `http.request`, or a whole skill as `http`; null: all tools. */
  tools: string[] | null;
  /** The topic by which its model is routed, unless the task has a topic of its own. */
  topic: string | null;
  model: string | null;
}

/**
 * The copy of an expert that an agent keeps. Later changes to the expert do not affect agents that
 * run already.
 */
export interface Persona extends Pick<Expert, 'id' | 'name' | 'instructions' | 'tools'> {}

export const partOf = ({ id, name, instructions, tools }: Expert): Persona => ({
  id,
  name,
  instructions,
  tools,
});
