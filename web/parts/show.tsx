import type { ComponentChildren } from 'preact';
import { type PagePlace, pageLink } from '../../src/kernel/pagepath.js';
import type { Loaded } from '../state/load.js';
import { Failure, LoadingNote } from './notes.js';

/**
 * Shows loaded data, a loading text on the first load, and a failure above the earlier data. A
 * missing object links to its list.
 */
export const Show = <T,>({
  of,
  what,
  listed,
  children,
}: {
  of: Loaded<T>;
  what: string;
  /** The list that would contain it. */
  listed?: PagePlace;
  children(data: T): ComponentChildren;
}) => (
  <>
    {of.error && listed && of.error.status === 404 ? (
      <p role="alert">
        Not found. It may have been deleted. <a href={pageLink(listed)}>Back to the list</a>
      </p>
    ) : (
      of.error && <Failure error={of.error} retry={() => void of.reload()} />
    )}
    {of.data !== null && (of.error?.status !== 404 || !listed) && children(of.data)}
    {of.data === null && of.error === null && <LoadingNote what={`Loading ${what}`} />}
  </>
);
