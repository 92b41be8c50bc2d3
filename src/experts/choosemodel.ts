import { type Expert, type Persona, partOf } from './expert.js';

export interface Wishes {
  expert?: Expert | undefined;
  model?: string | undefined;
  topic?: string | undefined;
  /** The model to use if neither the other wishes nor the routing of the topic names one. */
  otherwise?: string | undefined;
}

/** The models that an agent may be given, and the routing from a topic to a model. */
export interface ModelChoice {
  has(name: string): boolean;
  choose(topic?: string): string;
}

/**
 * Returns the model, topic and persona that an agent begins with. The wishes take precedence over
 * the expert's own settings.
 */
export const cast = (
  models: ModelChoice,
  { expert, model, topic = expert?.topic ?? undefined, otherwise }: Wishes,
): { model: string; topic?: string; part?: Persona } => {
  const own = expert?.model ?? null;
  const routed = models.choose(topic);
  const isRouted = routed !== models.choose() || otherwise === undefined;
  const chosen = own !== null && models.has(own) ? own : isRouted ? routed : otherwise;
  return {
    model: model ?? chosen,
    ...(topic !== undefined && { topic }),
    ...(expert && { part: partOf(expert) }),
  };
};
