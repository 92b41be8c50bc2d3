import type { ExpertReply } from './contract.js';

/**
 * The entry in an expert's list of tools that stands for all tools of MCP servers. No skill has
 * this name.
 */
export const MCP = 'mcp';

/** A persona that an agent can take on. Ours: its contents restrict or advise, and never grant. */
export type Expert = Omit<ExpertReply, 'source' | 'createdAt' | 'updatedAt'>;

/**
 * The copy of an expert that an agent keeps. Later changes to the expert do not affect agents that
 * run already.
 */
export type Persona = Pick<Expert, 'id' | 'name' | 'instructions' | 'tools'>;

export const expertPersona = ({ id, name, instructions, tools }: Expert): Persona => ({
  id,
  name,
  instructions,
  tools,
});

interface PersonaRequest {
  expert?: Expert | undefined;
  model?: string | undefined;
  topic?: string | undefined;
  /** The model to use if neither the other wishes nor the routing of the topic names one. */
  otherwise?: string | undefined;
}

/** The models that an agent may be given, and the routing from a topic to a model. */
interface ModelChoice {
  has(name: string): boolean;
  choose(topic?: string): string;
}

/**
 * Returns the model, topic and persona that an agent begins with. The wishes take precedence over
 * the expert's own settings.
 */
export const modelAndPersona = (
  models: ModelChoice,
  { expert, model, topic = expert?.topic ?? undefined, otherwise }: PersonaRequest,
): { model: string; topic?: string; persona?: Persona } => {
  const own = expert?.model ?? null;
  const routed = models.choose(topic);
  const isRouted = routed !== models.choose() || otherwise === undefined;
  const chosen = own !== null && models.has(own) ? own : isRouted ? routed : otherwise;
  return {
    model: model ?? chosen,
    ...(topic !== undefined && { topic }),
    ...(expert && { persona: expertPersona(expert) }),
  };
};
