import { type Expert, type Persona, partOf } from './expert.js';

export interface Wishes {
  expert?: Expert | undefined;
  model?: string | undefined;
  topic?: string | undefined;
  /** Where neither the wishes nor the routing of the topic name a model. */
  otherwise?: string | undefined;
}

/** The models that an agent may be given, and the one for a topic. */
export interface ModelChoice {
  has(name: string): boolean;
  choose(topic?: string): string;
}

/** What an agent begins with: what was wished for goes before what its expert has. */
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
