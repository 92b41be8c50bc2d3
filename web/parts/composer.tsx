import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { type Draft, keepDraft, newDraft, readDraft } from '../state/drafts.js';
import { session } from '../state/session.js';
import { useAction } from './action.js';
import { Failure } from './notes.js';

/** Maximum characters of a message that the daemon accepts. */
const MAX_MESSAGE_LENGTH = 100_000;

interface ComposerProps {
  /** Name under which the draft is kept in this tab. */
  name: string;
  label: string;
  /** Rejects on failure. The text then stays. */
  send(draft: Draft): Promise<unknown>;
  hint?: string;
  /** Whether it gets the focus when first shown. */
  isFocused?: boolean;
  /** Button labels while ready and while sending. Default to "Send" and "Sending…". */
  words?: [send: string, sending: string];
  /** Whether the text has several lines, so that Enter breaks the line. */
  isLong?: boolean;
}

/**
 * Enter sends, Shift+Enter breaks the line; in a long text Enter always breaks it. The text
 * survives a failure and a reload, and is cleared once it is sent.
 */
export const Composer = ({
  name,
  label,
  send,
  hint,
  isFocused = false,
  words: [ready, busy] = ['Send', 'Sending…'],
  isLong = false,
}: ComposerProps) => {
  const [draft, put] = useKeptDraft(name);
  const action = useAction();
  const id = useId();
  const submit = (): Promise<void> =>
    action.run(async () => {
      if (draft.text.trim() === '') return;
      await send(draft);
      put(newDraft());
    });
  return (
    <form
      class="composer"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {action.error && <Failure error={action.error} />}
      <label for={id}>{label}</label>
      <div class="writer">
        <TextField
          id={id}
          text={draft.text}
          put={(text) => put(newDraft(text))}
          submit={submit}
          isBusy={action.isBusy}
          isLong={isLong}
          isFocused={isFocused}
        />
        <button type="submit" class="main" aria-disabled={action.isBusy}>
          {action.isBusy ? busy : ready}
        </button>
      </div>
      {hint && <p class="muted">{hint}</p>}
    </form>
  );
};

/** Hook: the draft of that name and user, and its setter. */
const useKeptDraft = (name: string): [draft: Draft, put: (next: Draft) => void] => {
  const who = session.get();
  const key = `${who !== null && who !== 'unknown' ? who.id : ''} ${name}`;
  const [draft, setDraft] = useState(() => readDraft(key));
  const put = (next: Draft): void => {
    setDraft(next);
    keepDraft(key, next);
  };
  return [draft, put];
};

interface TextFieldProps {
  id: string;
  text: string;
  put(text: string): void;
  submit(): Promise<void>;
  isBusy: boolean;
  isLong: boolean;
  isFocused: boolean;
}

const TextField = ({ id, text, put, submit, isBusy, isLong, isFocused }: TextFieldProps) => {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (isFocused) field.current?.focus({ preventScroll: true });
  }, [isFocused]);
  return (
    <textarea
      id={id}
      ref={field}
      rows={isLong ? 6 : 1}
      maxLength={MAX_MESSAGE_LENGTH}
      enterkeyhint={isLong ? 'enter' : 'send'}
      readOnly={isBusy}
      value={text}
      onInput={({ currentTarget }) => put(currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.shiftKey || event.isComposing || isLong) return;
        event.preventDefault();
        void submit();
      }}
    />
  );
};
