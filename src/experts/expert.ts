import type { ExpertReply } from './contract.js';

/** Stands for all tools of MCP servers in the tools of an expert. */
export const MCP = 'mcp';

/** The fields restrict or advise, and never grant. */
export type Expert = Omit<ExpertReply, 'source' | 'createdAt' | 'updatedAt'>;

/** Later changes to the expert do not affect running agents. */
export type Persona = Pick<Expert, 'id' | 'name' | 'instructions' | 'tools'>;

export const expertPersona = ({ id, name, instructions, tools }: Expert): Persona => ({
  id,
  name,
  instructions,
  tools,
});

interface PersonaRequest {
  /** Owner of the agent. */
  userId: string;
  expert?: Expert | undefined;
  model?: string | undefined;
  topic?: string | undefined;
  /** Fallback if neither the request nor the topic names a model. */
  otherwise?: string | undefined;
}

interface ModelChoice {
  has(userId: string, name: string): boolean;
  choose(topic?: string): string;
}

/** The request takes precedence over the settings of the expert. */
export const modelAndPersona = (
  models: ModelChoice,
  { userId, expert, model, topic = expert?.topic ?? undefined, otherwise }: PersonaRequest,
): { model: string; topic?: string; persona?: Persona } => {
  const own = expert?.model ?? null;
  const routed = models.choose(topic);
  const isRouted = routed !== models.choose() || otherwise === undefined;
  const chosen = own !== null && models.has(userId, own) ? own : isRouted ? routed : otherwise;
  return {
    model: model ?? chosen,
    ...(topic !== undefined && { topic }),
    ...(expert && { persona: expertPersona(expert) }),
  };
};
