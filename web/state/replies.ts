import { useRef } from 'preact/hooks';
import { DELTAS, isTextDelta, type ReplyText, withDelta } from '../../src/client/replytext.js';
import { numberAt, textAt } from '../../src/kernel/jsonvalue.js';
import { agentOf } from './agentevents.js';
import { liveState, useTopics } from './live.js';
import { useRedraw } from './redraw.js';
import { useObservable } from './store.js';

/** A reply that an agent writes, or has written: then `messageId` is the message that it became. */
export interface WrittenReply extends ReplyText {
  messageId: string | null;
}

/** Topics that change what is being written. */
const TOPICS = [DELTAS, 'agent.message', 'agent.status'];
/** In these states nothing is written, and what was not finished is discarded. */
const QUIET = new Set(['completed', 'failed', 'stopped', 'paused']);

/** Hook: the replies that these agents are writing, by agent. */
export const useReplies = (agentIds: readonly string[]): ReadonlyMap<string, WrittenReply> => {
  const replies = useRef(new Map<string, WrittenReply>());
  const redraw = useRedraw();
  const hear = (event: unknown) => {
    const id = agentOf(event);
    if (id === null || !agentIds.includes(id)) return;
    follow(replies.current, id, event);
    redraw();
  };
  useTopics(TOPICS, hear, redraw);
  // Its end may be missed now, and its message brings the whole.
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
