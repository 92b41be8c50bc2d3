import { useRef } from 'preact/hooks';
import type { Agent } from '../../src/agents/contract.js';
import { numberAt } from '../../src/kernel/jsonvalue.js';
import { pageLink } from '../../src/kernel/pagepath.js';
import { ChatLog } from '../parts/chatlog.js';
import { Composer } from '../parts/composer.js';
import { ConversationAgent } from '../parts/conversationagent.js';
import { Heading } from '../parts/heading.js';
import { visibleText } from '../parts/json.js';
import { PendingCalls, usePendingCalls } from '../parts/pendingcalls.js';
import { Show } from '../parts/show.js';
import { agentIdOfEvent, withEvent } from '../state/agentevents.js';
import { ask } from '../state/api.js';
import { isNewConversation } from '../state/drafts.js';
import { useTopics } from '../state/live.js';
import { type Loaded, useLoad } from '../state/load.js';
import { useMessages } from '../state/messages.js';
import { useRedraw } from '../state/redraw.js';
import { useReplies } from '../state/replies.js';
import { useEndFollowed } from '../state/scroll.js';

const STATUS = ['agent.status'];
const nothing = (): void => undefined;
const UNFINISHED = ['queued', 'running', 'waiting_approval', 'paused'];

/** One conversation: messages, pending calls and the composer. */
export const ChatView = ({ id }: { id: string }) => {
  const session = useLoad({
    key: id,
    load: (signal) => ask('GET', '/api/sessions/{id}', { id }, signal),
  });
  const title = visibleText(session.data?.title || 'Conversation');
  return (
    <>
      <Heading title={title} />
      <p>
        <a class="tap" href={pageLink('chats')}>
          All conversations
        </a>
      </p>
      <Show of={session} what="the conversation" listed="chats">
        {({ channel }) => <Conversation id={id} channel={channel} />}
      </Show>
    </>
  );
};

const Conversation = ({ id, channel }: { id: string; channel: string }) => {
  const agents = useSpeakers(id);
  const list = agents.data ?? [];
  const ids = list.map((agent) => agent.id);
  const chat = useMessages(id, ids);
  const replies = useReplies(ids);
  const calls = usePendingCalls(ids);
  const speaker = list.find(({ status }) => UNFINISHED.includes(status)) ?? list[0];
  const reply = speaker && replies.get(speaker.id);
  const isStored = chat.messages.some((message) => message.id === reply?.messageId);
  const shown = [chat.messages.at(-1)?.id, reply?.to, calls.data?.length, speaker?.status];
  const end = useEndFollowed(shown.join(' '));
  const send = async (message: string, sendKey: string): Promise<void> => {
    const input = { query: { wait: 0 }, body: { message, sessionId: id }, sendKey };
    await ask('POST', '/api/chat', input);
    end.follow();
    await Promise.all([chat.pull(), agents.reload()]);
  };
  return (
    <>
      <ChatLog chat={chat} reply={isStored ? undefined : reply} channel={channel} />
      <PendingCalls calls={calls} />
      {speaker && (
        <ConversationAgent agent={speaker} isWriting={reply?.messageId === null} loaded={agents} />
      )}
      <div class="dock">
        {!end.isThere && (
          <button type="button" class="link" onClick={end.follow}>
            {end.hasNew ? 'New messages: go to the end' : 'Go to the end'}
          </button>
        )}
        <Composer
          name={`chat ${id}`}
          label="Message"
          isFocused={isNewConversation(id)}
          hint={calls.data?.length ? 'A message withdraws the pending call.' : ''}
          send={({ text, sendKey }) => send(text, sendKey)}
        />
      </div>
    </>
  );
};

const withStatus = (agents: Agent[] | null, event: unknown): Agent[] | null =>
  agents && withEvent(agents, event);

/** Hook: the agents of a conversation, newest first. */
const useSpeakers = (sessionId: string): Loaded<Agent[]> => {
  const known = useRef<readonly Agent[]>([]);
  /** Events since the last load started, which its reply may not include. */
  const heard = useRef<unknown[]>([]);
  const redraw = useRedraw();
  const agents = useLoad<Agent[]>({
    key: sessionId,
    load: async (signal) => {
      const before = heard.current.length;
      const query = { sessionId, limit: 20 };
      const reply = await ask('GET', '/api/agents', { query }, signal);
      heard.current = heard.current.slice(before);
      return reply.agents;
    },
    topics: STATUS,
    // A new agent may have taken over the conversation.
    concerns: (event) =>
      known.current.some(({ id }) => id === agentIdOfEvent(event)) || numberAt(event, 'id') === 1,
  });
  known.current = agents.data ?? [];
  // The state is shown at once. The other data follows.
  const hear = (event: unknown): void => {
    if (known.current.every(({ id }) => id !== agentIdOfEvent(event))) return;
    heard.current.push(event);
    redraw();
  };
  useTopics(STATUS, hear, nothing);
  return { ...agents, data: heard.current.reduce(withStatus, agents.data) };
};
