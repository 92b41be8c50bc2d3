import type { ComponentChildren } from 'preact';
import { toneOf } from '../../tui/theme.js';
import type { RequestError } from '../state/api.js';

/** A sentence while something loads. Screen readers say it. */
export const Waiting = ({ what }: { what: string }) => (
  <p class="muted" role="status">
    {what}…
  </p>
);

/** The message of a failure, and a button that tries again. */
export const Failure = ({ error, retry }: { error: RequestError; retry?: () => void }) => (
  <div class="note danger" role="alert">
    <p>{error.message}</p>
    {retry && (
      <button type="button" onClick={retry}>
        Try again
      </button>
    )}
  </div>
);

/** A sentence where a list is empty. */
export const Empty = ({ children }: { children: ComponentChildren }) => (
  <p class="muted empty">{children}</p>
);

/** The word of a state, in the colour of its meaning. */
export const State = ({ of }: { of: string }) => (
  <span class={`state ${toneOf(of) ?? ''}`}>{of.replaceAll('_', ' ')}</span>
);

/** Mark of what has read text from outside. */
export const Untrusted = () => (
  <span class="state untrusted" title="It has read external text">
    untrusted
  </span>
);

/** One fact of a list of facts, under its name; nothing where there is nothing to say. */
export const Fact = ({ name, children }: { name: string; children: ComponentChildren }) =>
  children === null || children === false ? null : (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
