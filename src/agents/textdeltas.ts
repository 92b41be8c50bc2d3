/**
 * Creates the passing on of pieces of a reply as they are written. Ours: they have no number and are
 * not stored; the message that follows has the complete text. Without a listener none are made.
 */
export const createDeltas = () => {
  const listeners = new Map<string, Set<(text: string) => void>>();
  return {
    /** Calls `hear` with each piece, until the returned function is called. */
    listen: (agentId: string, hear: (text: string) => void): (() => void) => {
      const those = listeners.get(agentId) ?? new Set();
      listeners.set(agentId, those.add(hear));
      return () => {
        those.delete(hear);
        if (those.size === 0) listeners.delete(agentId);
      };
    },
    /** Returns the function that passes on the agent's pieces; undefined if nobody listens. */
    of: (agentId: string): ((text: string) => void) | undefined => {
      const those = listeners.get(agentId);
      if (!those) return undefined;
      return (text) => {
        for (const hear of those) hear(text);
      };
    },
  };
};

export type Deltas = ReturnType<typeof createDeltas>;
