import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** Hook: a ref for an element, and whether the element has been on screen. */
export const useWasVisible = <E extends Element>(): { mark: RefObject<E>; isSeen: boolean } => {
  const mark = useRef<E>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (!mark.current) return;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    observer.observe(mark.current);
    return () => observer.disconnect();
  }, []);
  return { mark, isSeen };
};
