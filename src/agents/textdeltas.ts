/**
 * Pieces of an answer as they come. Ours: they have no number and are kept nowhere; the message that
 * follows is what was said. Where nobody listens, none are made.
 */
export interface Deltas {
  /** Until the returned function is called. */
  listen(agentId: string, hear: (text: string) => void): () => void;
  /** What passes the agent's pieces on, while somebody listens. */
  of(agentId: string): ((text: string) => void) | undefined;
}

export const createDeltas = (): Deltas => {
  const listeners = new Map<string, Set<(text: string) => void>>();
  return {
    listen: (agentId, hear) => {
      const those = listeners.get(agentId) ?? new Set();
      listeners.set(agentId, those.add(hear));
      return () => {
        those.delete(hear);
        if (those.size === 0) listeners.delete(agentId);
      };
    },
    of: (agentId) => {
      const those = listeners.get(agentId);
      if (!those) return undefined;
      return (text) => {
        for (const hear of those) hear(text);
      };
    },
  };
};
