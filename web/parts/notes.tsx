import type { ComponentChildren } from 'preact';
import { findStateTone } from '../../tui/theme.js';
import type { RequestError } from '../state/api.js';

/** Screen readers announce it. */
export const LoadingNote = ({ what }: { what: string }) => (
  <p class="muted" role="status">
    {what}…
  </p>
);

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

export const Empty = ({ children }: { children: ComponentChildren }) => (
  <p class="muted empty">{children}</p>
);

/** State in the colour of its meaning. */
export const State = ({ of }: { of: string }) => (
  <span class={`state ${findStateTone(of) ?? ''}`}>{of.replaceAll('_', ' ')}</span>
);

/** Mark for external text, and for agents that have read some. */
export const UntrustedMark = () => (
  <span class="state untrusted" title="It has read external text">
    untrusted
  </span>
);

/** One fact with its name. Nothing if it has no value. */
export const Fact = ({ name, children }: { name: string; children: ComponentChildren }) =>
  children === null || children === false ? null : (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
