import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Distance from the end at which a reader counts as being at the end, in pixels. */
const NEAR = 80;

const isAtEnd = (): boolean => {
  const { scrollHeight } = document.documentElement;
  return innerHeight + scrollY >= scrollHeight - NEAR;
};

const goToEnd = (): void => scrollTo(0, document.documentElement.scrollHeight);

/** The end of the page, and whether the reader is there. */
export interface EndFollowed {
  /** Whether the reader is at the end, which is then followed. */
  isThere: boolean;
  /** Whether content was added since the reader left the end. */
  hasNew: boolean;
  /** Goes to the end and follows it. */
  follow(): void;
}

/**
 * Hook: keeps the end of the page in view if the reader is there. `content` must change when
 * content is added.
 */
export const useEndFollowed = (content: string): EndFollowed => {
  const [isThere, setThere] = useState(true);
  const [hasNew, setNew] = useState(false);
  const stays = useRef(true);
  useEffect(() => {
    const look = (): void => {
      stays.current = isAtEnd();
      setThere(stays.current);
      if (stays.current) setNew(false);
    };
    // An opening keyboard makes the window smaller. The end stays in view.
    const resized = (): void => (stays.current ? goToEnd() : undefined);
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', resized);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', resized);
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other content has another height
  useLayoutEffect(() => {
    if (stays.current) goToEnd();
    else setNew(true);
  }, [content]);
  const follow = (): void => {
    stays.current = true;
    goToEnd();
  };
  return { isThere, hasNew, follow };
};
