import type { MessageReply } from '../../src/conversations/contract.js';
import type { ChatMessages } from '../state/messages.js';
import { toolNamesByResult } from '../state/paircalls.js';
import type { WrittenReply } from '../state/replies.js';
import { Button, useAction } from './action.js';
import { LongText, Value, visibleText } from './json.js';
import { Empty, Failure, LoadingNote } from './notes.js';
import { TimeOfDay } from './time.js';
import { LiveReply } from './transcript.js';

export const ChatLog = ({
  chat,
  reply,
  channel,
}: {
  chat: ChatMessages;
  reply: WrittenReply | undefined;
  /** Channel on which the conversation started. */
  channel: string;
}) => {
  const earlier = useAction();
  const { messages, error, hasEarlier, isLoading } = chat;
  const results = toolNamesByResult(messages);
  return (
    <>
      {earlier.error && <Failure error={earlier.error} />}
      {hasEarlier && (
        <Button action={earlier} work={chat.pullEarlier}>
          Show earlier messages
        </Button>
      )}
      {isLoading && !error && <LoadingNote what="Loading the messages" />}
      <div role="log" aria-label="Messages">
        <ol class="messages">
          {messages.map((message) => (
            <li key={message.id} class={message.role}>
              <Message message={message} tool={results.get(message.id) ?? null} channel={channel} />
            </li>
          ))}
        </ol>
      </div>
      {!isLoading && messages.length === 0 && <Empty>No messages yet.</Empty>}
      {reply && <LiveReply reply={reply} />}
      {error && <Failure error={error} retry={() => void chat.pull()} />}
    </>
  );
};

/** The first message of some conversations is not the user's. */
const getSpeaker = ({ role, seq }: MessageReply, channel: string): string => {
  if (role !== 'user') return role === 'assistant' ? 'Assistant' : 'System';
  if (seq === 1 && channel === 'hook') return 'Hook';
  return seq === 1 && channel === 'agent' ? 'Another agent' : 'You';
};

const Message = ({
  message,
  tool,
  channel,
}: {
  message: MessageReply;
  tool: string | null;
  channel: string;
}) => {
  const { role, content, createdAt, toolCalls = [] } = message;
  if (role === 'tool') {
    return (
      <details>
        <summary>
          <span class="kind">Result</span> {tool !== null && <code>{visibleText(tool)}</code>}
        </summary>
        <LongText text={content} />
      </details>
    );
  }
  return (
    <>
      <p class="line">
        <span class="kind">{getSpeaker(message, channel)}</span>
        <span class="at">
          <TimeOfDay at={createdAt} />
        </span>
      </p>
      {content !== '' && <LongText text={content} kind="prose" />}
      {toolCalls.map((call, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a message never changes
        <details key={at}>
          <summary>
            <span class="kind">Call</span> <code>{visibleText(String(call.name ?? ''))}</code>
          </summary>
          <Value of={call.arguments ?? {}} />
        </details>
      ))}
    </>
  );
};
