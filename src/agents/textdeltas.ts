import type { Clock } from '../kernel/clock.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { TextDelta } from './contract.js';
import { createPacedText } from './pacedtext.js';

export interface DeltaSockets {
  /** Number of the newest subscription of the user to deltas, or 0. */
  newestReader(userId: string): number;
  send(userId: string, delta: TextDelta): void;
}

/**
 * `null`: the text so far was reasoning, or its model failed. The reply starts with the next piece.
 */
type ReplyListener = (text: string | null, step: number) => void;

export interface ReplyDeltas {
  take(text: string): void;
  /** The text so far does not belong to the reply. */
  restart(): void;
  /** Forwards buffered text. */
  end(): void;
}

/** In characters. Readers who come later than this get the text with the complete message. */
const MAX_KEPT = 262_144;

/** Deltas have no number and are not stored. */
export const createDeltas = (clock: Clock) => {
  const listeners = new Map<string, Set<ReplyListener>>();
  /** Text so far of the replies that are being generated, for readers who come later. */
  const replies = new Map<string, { step: number; text: string }>();
  let sockets: DeltaSockets = { newestReader: () => 0, send: () => undefined };
  return {
    /** Begins with the text so far, which replaces what a resumed reader already has. */
    listen: (agentId: string, onDelta: ReplyListener, isResumed: boolean): (() => void) => {
      const { step = 0, text = '' } = replies.get(agentId) ?? {};
      if (text !== '' && isResumed) onDelta(null, step);
      if (text !== '') onDelta(text, step);
      const own = listeners.get(agentId) ?? new Set();
      listeners.set(agentId, own.add(onDelta));
      return () => {
        own.delete(onDelta);
        if (own.size === 0) listeners.delete(agentId);
      };
    },
    /** The sockets get the text a few times per second. */
    toSockets: (to: DeltaSockets): void => {
      sockets = to;
    },
    begin: (
      { id, user_id: userId }: Pick<AgentRow, 'id' | 'user_id'>,
      step: number,
    ): ReplyDeltas => {
      const paced = createPacedText({
        clock,
        newestReader: () => sockets.newestReader(userId),
        send: (from, text) => sockets.send(userId, { agentId: id, step, from, text }),
      });
      const reply = { step, text: '' };
      replies.set(id, reply);
      return {
        take: (text) => {
          if (reply.text.length < MAX_KEPT) reply.text += text;
          for (const onDelta of listeners.get(id) ?? []) onDelta(text, step);
          paced.take(text);
        },
        restart: () => {
          reply.text = '';
          for (const onDelta of listeners.get(id) ?? []) onDelta(null, step);
          paced.restart();
        },
        end: () => {
          if (replies.get(id) === reply) replies.delete(id);
          paced.end();
        },
      };
    },
  };
};

export type Deltas = ReturnType<typeof createDeltas>;
