import type { TextDelta } from '../../src/client/index.js';
import { type ReplyText, withDelta } from '../../src/client/replytext.js';

/** The replies that followed agents are writing, or wrote last, by the agent's id. */
export type RepliesState = Readonly<Record<string, ReplyText>>;

export interface ReplyAction {
  type: 'reply.grew';
  delta: TextDelta;
}

/** Most agents whose replies are kept; the one that began first is dropped. */
const MAX_REPLIES = 5;

export const reduceReplies = (state: RepliesState, { delta }: ReplyAction): RepliesState => {
  const { agentId } = delta;
  const grown = { ...state, [agentId]: withDelta(state[agentId] ?? null, delta) };
  return Object.fromEntries(Object.entries(grown).slice(-MAX_REPLIES));
};
