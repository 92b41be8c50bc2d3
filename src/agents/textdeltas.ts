import type { AgentRow } from '../store/tables/agents.js';
import type { TextDelta } from './contract.js';
import { createPacedText } from './pacedtext.js';

/** The sockets that deltas are sent to. */
export interface DeltaSockets {
  /** Returns the number of the newest subscription of the user's sockets to deltas; 0 if none. */
  newestReader(userId: string): number;
  send(userId: string, delta: TextDelta): void;
}

/**
 * Called with each piece of a reply, and with the agent's step that the reply belongs to. `null` in
 * place of a piece: the pieces so far were reasoning, and the reply begins with the next one.
 */
type ReplyListener = (text: string | null, step: number) => void;

/** One reply that is being written. */
export interface ReplyDeltas {
  take(text: string): void;
  /** Called if the text so far was reasoning, and the reply begins with the next piece. */
  restart(): void;
  /** Called when the reply is complete or has failed. What was held back is passed on. */
  end(): void;
}

/**
 * Creates the passing on of replies as they are written. Ours: the pieces have no number and are not
 * stored; the message that follows has the complete text.
 */
export const createDeltas = () => {
  const listeners = new Map<string, Set<ReplyListener>>();
  let sockets: DeltaSockets = { newestReader: () => 0, send: () => undefined };
  return {
    /** Calls `hear` with each piece, until the returned function is called. */
    listen: (agentId: string, hear: ReplyListener): (() => void) => {
      const those = listeners.get(agentId) ?? new Set();
      listeners.set(agentId, those.add(hear));
      return () => {
        those.delete(hear);
        if (those.size === 0) listeners.delete(agentId);
      };
    },
    /** Registers the sockets, which get the text of a reply a few times a second. */
    toSockets: (to: DeltaSockets): void => {
      sockets = to;
    },
    /** Begins the reply of a model to a step of the agent. */
    begin: (
      { id, user_id: userId }: Pick<AgentRow, 'id' | 'user_id'>,
      step: number,
    ): ReplyDeltas => {
      const paced = createPacedText({
        newestReader: () => sockets.newestReader(userId),
        send: (from, text) => sockets.send(userId, { agentId: id, step, from, text }),
      });
      return {
        take: (text) => {
          for (const hear of listeners.get(id) ?? []) hear(text, step);
          paced.take(text);
        },
        restart: () => {
          for (const hear of listeners.get(id) ?? []) hear(null, step);
          paced.restart();
        },
        end: paced.end,
      };
    },
  };
};

export type Deltas = ReturnType<typeof createDeltas>;
