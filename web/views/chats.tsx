import type { Session } from '../../src/conversations/contract.js';
import { numberAt } from '../../src/kernel/jsonvalue.js';
import { pageLink } from '../../src/kernel/pagepath.js';
import { Composer } from '../parts/composer.js';
import { Heading } from '../parts/heading.js';
import { visibleText } from '../parts/json.js';
import { Cards, usePaged } from '../parts/more.js';
import { Empty } from '../parts/notes.js';
import { Ago } from '../parts/time.js';
import { ask } from '../state/api.js';
import { type Draft, rememberNewConversation } from '../state/drafts.js';
import { go } from '../state/route.js';

export const Chats = ({ query }: { query: URLSearchParams }) => {
  const isAll = query.get('all') !== null;
  const list = usePaged<Session>({
    key: String(isAll),
    load: async (page, signal) => {
      const filter = { ...page, ...(!isAll && { channel: 'chat' }) };
      const { sessions, nextCursor } = await ask('GET', '/api/sessions', { query: filter }, signal);
      return { rows: sessions, nextCursor };
    },
    topics: ['agent.status'],
    // The first event of an agent may mean a new conversation.
    concerns: (event) => numberAt(event, 'id') === 1,
  });
  return (
    <>
      <Heading title="Chat" />
      <Composer name="chat" label="New conversation" send={beginChat} />
      <h2>Conversations</h2>
      <label class="choice">
        <input
          type="checkbox"
          checked={isAll}
          onChange={() => go(isAll ? '/chat' : '/chat?all', 'replace')}
        />
        Include conversations of hooks, tasks and channels
      </label>
      <Cards
        of={list}
        what="conversations"
        empty={<Empty>No conversations yet. Send a message above to start one.</Empty>}
      >
        {(chat) => <ChatCard chat={chat} />}
      </Cards>
    </>
  );
};

const beginChat = async ({ text, sendKey }: Draft): Promise<void> => {
  const input = { query: { wait: 0 }, body: { message: text }, sendKey };
  const { sessionId } = await ask('POST', '/api/chat', input);
  rememberNewConversation(sessionId);
  go(pageLink('chat', sessionId));
};

const ChatCard = ({ chat }: { chat: Session }) => (
  <>
    <p class="line">
      <span class="kind">{visibleText(chat.channel)}</span>
      <span class="muted">{chat.messageCount} messages</span>
      <span class="at">
        <Ago at={chat.updatedAt} />
      </span>
    </p>
    <p>
      <a href={pageLink('chat', chat.id)}>
        <strong>{visibleText(chat.title) || 'Untitled'}</strong>
      </a>
    </p>
  </>
);
