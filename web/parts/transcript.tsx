import type { WrittenReply } from '../state/replies.js';
import type { TranscriptItem } from '../state/transcript.js';
import { LongText, visibleText } from './json.js';
import { State } from './notes.js';
import { TimeOfDay } from './time.js';
import { ToolDetails } from './tooluse.js';

/** Messages, calls and states of an agent, in order. */
export const Transcript = ({ items }: { items: readonly TranscriptItem[] }) => (
  <ol class="messages">
    {items.map((item) => (
      <li key={item.key} class={item.is}>
        <Item of={item} />
      </li>
    ))}
  </ol>
);

const Item = ({ of }: { of: TranscriptItem }) => {
  if (of.is === 'call') return <ToolDetails of={of} />;
  if (of.is === 'status') return <States of={of} />;
  return (
    <>
      <p class="line">
        <span class="kind">{of.is === 'said' ? 'You' : 'Assistant'}</span>
        {of.is === 'message' && <span class="muted">{visibleText(of.model ?? '')}</span>}
        <span class="at">
          <TimeOfDay at={of.at} />
        </span>
      </p>
      {of.content === '' ? (
        <p class="muted">No text, only tool calls.</p>
      ) : (
        <LongText text={of.content} kind="prose" />
      )}
      {of.is === 'message' && of.note !== null && <p class="note warn">{visibleText(of.note)}</p>}
    </>
  );
};

const States = ({ of }: { of: TranscriptItem & { is: 'status' } }) => (
  <p class="line">
    {of.statuses.map((status, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the place is all that a state has
      <State key={at} of={status} />
    ))}
    <span>{visibleText(of.detail)}</span>
    <span class="at">
      <TimeOfDay at={of.at} />
    </span>
  </p>
);

/** Reply in progress. Screen readers announce the final message, not each piece. */
export const LiveReply = ({ reply }: { reply: WrittenReply }) => (
  <div class="message writes" aria-live="off">
    <p class="line">
      <span class="kind">Assistant</span> <span class="muted">is writing…</span>
    </p>
    <pre class="prose">{visibleText(reply.text)}</pre>
  </div>
);
