import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Action, Button } from './action.js';

interface ConfirmProps {
  action: Action;
  work(): Promise<unknown>;
  question: ComponentChildren;
  /** Label of the confirming button: `Replay it`. */
  label: string;
  kind?: 'main' | 'danger' | '';
  /** Label of the button that asks. */
  children: ComponentChildren;
}

/**
 * Button that asks once before it acts. The question replaces it and gets the focus; after "No" the
 * button has the focus again.
 */
export const Confirm = (props: ConfirmProps) => {
  const [isAsking, setAsking] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const wasAsking = useRef(false);
  useLayoutEffect(() => {
    if (isAsking !== wasAsking.current) place.current?.querySelector('button')?.focus();
    wasAsking.current = isAsking;
  }, [isAsking]);
  return (
    <div ref={place}>
      {isAsking ? (
        <ConfirmQuestion {...props} end={() => setAsking(false)} />
      ) : (
        <div class="buttons">
          <button type="button" class={props.kind} onClick={() => setAsking(true)}>
            {props.children}
          </button>
        </div>
      )}
    </div>
  );
};

const ConfirmQuestion = ({
  action,
  work,
  question,
  label,
  kind = '',
  end,
}: ConfirmProps & { end(): void }) => {
  const id = useId();
  const act = async (): Promise<void> => {
    try {
      await work();
    } finally {
      end();
    }
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields, and these are buttons
    <div class="note warn" role="group" aria-labelledby={id}>
      <p id={id}>{question}</p>
      <div class="buttons">
        <Button action={action} kind={kind} work={act}>
          {label}
        </Button>
        <button type="button" onClick={end}>
          No
        </button>
      </div>
    </div>
  );
};
