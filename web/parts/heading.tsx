import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { approvalCount, useOverview } from '../state/overview.js';

/**
 * Heading of a view. Sets the tab title, with the number of pending calls, and gets the focus when
 * the view opens, so that keyboard and screen reader start there.
 */
export const Heading = ({ children, title }: { children?: ComponentChildren; title: string }) => {
  const element = useRef<HTMLHeadingElement>(null);
  const waiting = approvalCount(useOverview());
  useLayoutEffect(() => {
    document.title = `${waiting && `(${waiting}) `}${title} · Adjutant`;
  }, [title, waiting]);
  useEffect(() => element.current?.focus({ preventScroll: true }), []);
  return (
    <h1 ref={element} tabIndex={-1}>
      {children ?? title}
    </h1>
  );
};
