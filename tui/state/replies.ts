import type { TextDelta } from '../../src/client/index.js';
import { type ReplyText, withDelta } from '../../src/client/replytext.js';

/** Current or last reply of each followed agent, by agent id. */
export type RepliesState = Readonly<Record<string, ReplyText>>;

export interface ReplyAction {
  type: 'reply.grew';
  delta: TextDelta;
}

/** Maximum number of agents whose replies are kept. The oldest is dropped. */
const MAX_REPLIES = 5;

export const reduceReplies = (state: RepliesState, { delta }: ReplyAction): RepliesState => {
  const { agentId } = delta;
  const grown = { ...state, [agentId]: withDelta(state[agentId] ?? null, delta) };
  return Object.fromEntries(Object.entries(grown).slice(-MAX_REPLIES));
};
