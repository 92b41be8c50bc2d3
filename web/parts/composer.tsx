import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { type Draft, keepDraft, newDraft, readDraft } from '../state/drafts.js';
import { session } from '../state/session.js';
import { useAction } from './action.js';
import { Failure } from './notes.js';

/** The most characters of one message that the daemon takes. */
const LONGEST = 100_000;

interface ComposerProps {
  /** The name under which the draft is kept in this tab. */
  name: string;
  label: string;
  /** Rejects if it could not be sent: the text stays then. */
  send(draft: Draft): Promise<unknown>;
  hint?: string;
  /** True if it gets the focus when it is first shown. */
  isFocused?: boolean;
  /** The words of its button, and those while it is sent; "Send" and "Sending…" unless given. */
  words?: [send: string, sending: string];
  /** True for a text of several lines, in which Enter breaks the line. */
  isLong?: boolean;
}

/**
 * A text that is written and sent: Enter sends, with Shift it breaks the line; in a long text it always
 * does. The text survives a failure and a reload, and is cleared once it is sent.
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

/** Hook: the draft of that name and user, and the function that changes it. */
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

/** The field of a composer. */
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
      maxLength={LONGEST}
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
