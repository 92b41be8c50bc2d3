import { useRef } from 'preact/hooks';
import { DELTAS, isTextDelta, type ReplyText, withDelta } from '../../src/client/replytext.js';
import { numberAt, textAt } from '../../src/kernel/jsonvalue.js';
import { agentIdOfEvent } from './agentevents.js';
import { liveState, useTopics } from './live.js';
import { useRedraw } from './redraw.js';
import { useObservable } from './store.js';

/** A reply of an agent. Once it is complete, `messageId` is its stored message. */
export interface WrittenReply extends ReplyText {
  messageId: string | null;
}

/** Topics that change the replies. */
const TOPICS = [DELTAS, 'agent.message', 'agent.status'];
/** States without a reply in progress. Unfinished text is discarded. */
const QUIET = new Set(['completed', 'failed', 'stopped', 'paused']);

/** Hook: replies in progress, by agent. */
export const useReplies = (agentIds: readonly string[]): ReadonlyMap<string, WrittenReply> => {
  const replies = useRef(new Map<string, WrittenReply>());
  const redraw = useRedraw();
  const hear = (event: unknown) => {
    const id = agentIdOfEvent(event);
    if (id === null || !agentIds.includes(id)) return;
    follow(replies.current, id, event);
    redraw();
  };
  useTopics(TOPICS, hear, redraw);
  // The end of a reply may be missed now. Its message brings the full text.
  const isOffline = useObservable(liveState) === 'offline';
  if (isOffline) replies.current.clear();
  return replies.current;
};

const follow = (replies: Map<string, WrittenReply>, id: string, event: unknown): void => {
  const reply = replies.get(id);
  if (isTextDelta(event)) {
    replies.set(id, { ...withDelta(reply ?? null, event), messageId: null });
    return;
  }
  if (textAt(event, 'type') === 'agent.message') {
    const isIt = reply && numberAt(event, 'data', 'step') === reply.step;
    if (isIt) replies.set(id, { ...reply, messageId: textAt(event, 'data', 'messageId') });
    return;
  }
  const status = textAt(event, 'data', 'status') ?? '';
  if (QUIET.has(status) && reply?.messageId === null) replies.delete(id);
};
